"""The program, started once and forked for each call: a start costs a fork.

    python forked_program.py SOCKET                the server; it ends with its standard input
    python -I -S forked_program.py SOCKET call …   a call: as `postmortem …`, with its own streams

In: arguments, folder, variables and the three streams of a call. Out: its exit status. Not here:
what is called (tests/contracts/test_documented_commands.py).
"""

import json
import os
import select
import socket
import sys
from typing import Any

END = b"\0"


def call(path: str, arguments: list[str]) -> int:
    """Ask the server; gives the exit status, or 70 if the call has died."""
    with socket.socket(socket.AF_UNIX) as place:
        place.connect(path)
        value = {"arguments": arguments, "folder": os.getcwd(), "variables": dict(os.environ)}  # noqa: PTH109 -- starts in less
        socket.send_fds(place, [b"\1"], [0, 1, 2])
        place.sendall(json.dumps(value).encode() + END)
        return (place.recv(1) or b"\x46")[0]


def answer(place: socket.socket, main: Any) -> None:
    """Become the program, and say how it ended."""
    _, streams, *_ = socket.recv_fds(place, 1, 3)
    text = b""
    while not text.endswith(END):
        text += place.recv(65536)
    request = json.loads(text.rstrip(END))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["variables"])
    sys.argv = ["postmortem", *request["arguments"]]
    try:
        main(request["arguments"])  # called with arguments it leaves the end to its caller
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    sys.stdout.flush()
    sys.stderr.flush()
    place.send(bytes([status]))


def serve(path: str) -> None:
    """Fork for each call until standard input ends."""
    from postmortem.interfaces.cli import COMMANDS, cli, main

    for name in COMMANDS:
        cli.get_command(None, name)  # type: ignore[arg-type] -- it needs none
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            place, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                try:
                    answer(place, main)
                finally:
                    os._exit(0)
            place.close()
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


if __name__ == "__main__":
    if sys.argv[2:3] == ["call"]:
        sys.exit(call(sys.argv[1], sys.argv[3:]))
    serve(sys.argv[1])
