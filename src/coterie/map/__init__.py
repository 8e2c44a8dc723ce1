"""Positions and colours of topics and texts on the map, and its file."""
