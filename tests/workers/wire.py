"""A cable made of two tap devices: what a host sends is delayed or lost on it,
also where the kernel has no netem."""

import collections
import fcntl
import os
import random
import select
import struct
import threading
import time

from launchers import Unavailable

TUNSETIFF = 0x400454CA
TAP_OF_FRAMES = 0x1002  # IFF_TAP | IFF_NO_PI
LARGEST = 1 << 16


def open_tap(name):
    """A new device of this name, and the file of its frames."""
    try:
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(file, TUNSETIFF,
                    struct.pack("16sH22x", name.encode(), TAP_OF_FRAMES))
    except OSError as error:
        raise Unavailable(f"/dev/net/tun: {error}") from error
    return file


class Wire:
    """Carries frames between the two devices until close()."""

    def __init__(self, host_device, port_device, delay, loss):
        self._host = open_tap(host_device)
        self._port = open_tap(port_device)
        self._delay = delay  # seconds
        self._loss = loss    # share of the frames
        self._frames = collections.deque()  # from the host, with their times
        self._ends, self._end = os.pipe()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self):
        os.close(self._end)
        self._thread.join()
        for file in (self._host, self._port, self._ends):
            os.close(file)

    def _run(self):
        drawn = random.Random(7).random
        while True:
            ready, _, _ = select.select((self._host, self._port, self._ends),
                                        (), (), self._wait())
            if self._ends in ready:
                return
            if self._port in ready:
                for frame in received(self._port):
                    pass_on(self._host, frame)
            if self._host in ready:
                due = time.monotonic() + self._delay
                self._frames.extend((due, frame)
                                    for frame in received(self._host)
                                    if drawn() >= self._loss)
            while self._frames and self._frames[0][0] <= time.monotonic():
                pass_on(self._port, self._frames.popleft()[1])

    def _wait(self):
        if not self._frames:
            return None
        return max(0, self._frames[0][0] - time.monotonic())


def received(file, most=64):
    for _ in range(most):
        try:
            yield os.read(file, LARGEST)
        except OSError:  # There is none now, or the device is down.
            return


def pass_on(file, frame):
    try:
        os.write(file, frame)
    except OSError:  # It is lost, as on a cable without a host.
        pass
