"""Where topics and texts lie on a plane, in which colours, and the file that keeps it."""
