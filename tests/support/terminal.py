#!/usr/bin/env python3
"""Runs a command on a terminal of its own: terminal.py COLUMNS [--press TEXT] -- COMMAND...

The output of the command is copied to stdout unchanged, with escape codes; the exit status is the
command's (128 + N for signal N). With --press, Ctrl-C is typed once TEXT has been seen: the line
discipline turns it into SIGINT for the foreground group, as at a desk. Standard library only.
"""

import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    split = sys.argv.index("--")
    options, command = sys.argv[1:split], sys.argv[split + 1:]
    columns = int(options[0])
    press = options[2].encode() if len(options) > 2 else None
    pid, terminal = pty.fork()
    if pid == 0:
        # Ready before the command looks: the size is set by the child on its own terminal.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvp(command[0], command)
    seen = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other side is closed: Linux answers EIO
            break
        if not data:
            break
        os.write(1, data)
        seen += data
        if press and press in seen:
            os.write(terminal, b"\x03")
            press = None
    status = os.waitpid(pid, 0)[1]
    sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


main()
