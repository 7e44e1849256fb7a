"""A terminal session: runs a command in a pseudo terminal, copies what the terminal shows, and does what its user does when a file appears: press Ctrl-C, or close the window."""

import contextlib
import os
import pty
import select
import signal
import sys
import time

action, mark, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)       # as in a login shell, whatever started this program
    os.execvp(command[0], command)

acted = False
with contextlib.suppress(OSError):      # the terminal's other side is closed
    while True:
        if select.select([terminal], [], [], 0.05)[0]:
            shown = os.read(terminal, 4096)
            if not shown:
                break
            sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
            sys.stdout.flush()
        if not acted and os.path.exists(mark):
            time.sleep(0.3)
            acted = True
            if action == "close":
                os.close(terminal)
                break
            os.write(terminal, b"\x03")
_, status = os.waitpid(child, 0)


def session_of(pid):
    with contextlib.suppress(OSError):
        return os.getsid(int(pid))
    return None


while any(session_of(pid) == child for pid in os.listdir("/proc") if pid.isdigit()):
    time.sleep(0.1)
code = os.waitstatus_to_exitcode(status)
sys.exit(128 - code if code < 0 else code)
