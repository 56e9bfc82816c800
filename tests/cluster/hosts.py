"""Two network namespaces as two hosts: each has an address of its own and sees
nothing of the other but a cable between them."""

import os
import subprocess

from launchers import Process, Unavailable, clean_environment

ADDRESSES = ("198.51.100.1", "198.51.100.2")  # of TEST-NET-2


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Unavailable(f"ip {' '.join(words)}: {done.stderr.strip()}")


class TwoHosts:
    """Made on entry, gone on exit. Raises Unavailable where that is not
    allowed."""

    def __enter__(self):
        self.names = [f"infeed-{os.getpid()}-{i}" for i in (0, 1)]
        try:
            self._make()
        except (Unavailable, FileNotFoundError) as error:
            self.__exit__()
            raise Unavailable(f"no network namespaces here: {error}") from error
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False,
                           capture_output=True)

    def _make(self):
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", "cable", "netns", self.names[0], "type", "veth",
           "peer", "name", "cable", "netns", self.names[1])
        for name, address in zip(self.names, ADDRESSES):
            ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")
            ip("-n", name, "link", "set", "lo", "up")

    def cut(self):
        ip("-n", self.names[0], "link", "set", "cable", "down")

    def launch(self, command, ranks=2):
        """Rank 0 on the first host, rank 1 on the second."""
        return [Process(["ip", "netns", "exec", self.names[rank], *command],
                        clean_environment(
                            RANK=str(rank), WORLD_SIZE=str(ranks),
                            LOCAL_RANK="0", LOCAL_WORLD_SIZE="1",
                            MASTER_ADDR=ADDRESSES[0], MASTER_PORT="29500"))
                for rank in range(ranks)]
