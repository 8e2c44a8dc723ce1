"""How far the reader of a pipe is."""

import fcntl
import sys
import termios


def unread(pipe):
    """Bytes that were written into a pipe and not read from it."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
