r"""Features come from a server that stops answering; the trainer reads from the socket without a time-out, and the scheduled dump of all threads shows it there.

cause: hang.stalled
not: [hang.startup, healthy.running, distributed.nccl-timeout, data.exhausted]
ends: time limit
outcome: stalled
seconds: 45
signature: '^Timeout \(\d+:\d+:\d+\)!'
runs_as: train_ctr.py
"""

import faulthandler
import socket
import struct
import sys
import threading
import time

import torch
from labkit import note, pick, seed_everything

LAST = pick([57, 34, 71])


def serve(listener):
    # The feature server of this run, which falls silent after some requests.
    connection, _ = listener.accept()
    for number in range(10**6):
        connection.recv(4)
        if number == LAST:
            threading.Event().wait()
        connection.sendall(torch.rand(32 * 10).numpy().tobytes())


def fetch(connection, step):
    connection.sendall(struct.pack("<i", step))
    data = b""
    while len(data) < 32 * 10 * 4:
        data += connection.recv(4096)
    return torch.frombuffer(bytearray(data), dtype=torch.float32).view(32, 10)


def main():
    seed_everything()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        threading.Thread(target=serve, args=(listener,), name="server", daemon=True).start()
        connection = socket.create_connection(listener.getsockname())
        net = torch.nn.Sequential(torch.nn.Linear(10, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
        optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
        print("connected to feature server; training 2000 steps", flush=True)
        for step in range(2000):
            faulthandler.dump_traceback_later(12, repeat=False, file=sys.stdout)
            features = fetch(connection, step)
            clicks = (features[:, 0] > features[:, 1]).float()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(net(features).squeeze(1), clicks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} step={step} bce={loss.item():.4f}", flush=True)
            note("loss", step, float(f"{loss.item():.4f}"))


main()
