"""Runs a command in a terminal of its own: in-terminal.py COLUMNS LINES COMMAND...

It copies the output of the command unchanged. Each line of its input is JSON: it types a string, and
resizes the terminal to a pair of numbers. It ends with the command, with the same exit code.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios


def resize(terminal, columns, lines):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def main():
    columns, lines, *command = sys.argv[1:]
    pid, terminal = pty.fork()
    if pid == 0:
        resize(0, int(columns), int(lines))
        os.execvp(command[0], command)
    orders = b""
    ends = [terminal, 0]
    while True:
        ready, _, _ = select.select(ends, [], [])
        if terminal in ready:
            try:
                said = os.read(terminal, 65536)
            except OSError:
                said = b""
            if not said:
                break
            os.write(1, said)
        if 0 in ready:
            more = os.read(0, 65536)
            if not more:
                ends = [terminal]
            *whole, orders = (orders + more).split(b"\n")
            for line in whole:
                order = json.loads(line)
                if isinstance(order, str):
                    os.write(terminal, order.encode())
                else:
                    resize(terminal, *order)
    _, status = os.waitpid(pid, 0)
    sys.exit(os.waitstatus_to_exitcode(status) & 255)


main()
