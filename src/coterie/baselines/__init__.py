"""What the papers compare their methods with, behind the same contract."""
