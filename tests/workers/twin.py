#!/usr/bin/env python3
"""Has another process send slots over loopback, a range on each request, and
reads them into memory by readv: what no receiver can do for less. Prints the
CPU seconds per 1,000 slots of the reading.

usage: twin.py CORE    the sender's"""

import os
import socket
import sys
import time

SLOT_BYTES = 224 * 224 * 3
RANGE = 16 * SLOT_BYTES
MEMORY = 8 * RANGE  # As the batches of a pool, more than a cache holds.
RANGES = 400


def send(listener):
    connection, _ = listener.accept()
    slots = memoryview(bytearray(MEMORY))
    i = 0
    while connection.recv(1):
        connection.sendall(slots[i % 8 * RANGE:][:RANGE])
        i += 1


def read_range(descriptor, memory):
    while memory:
        got = os.readv(descriptor, [memory])
        if got == 0:
            raise SystemExit("the sender is gone")
        memory = memory[got:]


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        os.sched_setaffinity(0, {int(sys.argv[1])})
        send(listener)
        os._exit(0)
    connection = socket.create_connection(listener.getsockname())
    memory = memoryview(bytearray(MEMORY))
    begin = 0.0
    for i in range(-8, RANGES):
        if i == 0:  # The pages are there.
            begin = time.process_time()
        connection.send(b"?")
        read_range(connection.fileno(), memory[i % 8 * RANGE:][:RANGE])
    slots = RANGES * RANGE / SLOT_BYTES
    print(1000 * (time.process_time() - begin) / slots)


if __name__ == "__main__":
    main()
