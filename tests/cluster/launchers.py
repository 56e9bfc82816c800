"""Ways to start a training of several ranks: each gives the processes that a
user would start, with their environments."""

import dataclasses
import os
import pathlib
import shutil
import socket

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Unavailable(Exception):
    """This machine cannot do it, and why."""


@dataclasses.dataclass
class Process:
    command: list
    environment: dict


def clean_environment(**more):
    """Without what some launcher that runs this test has set."""
    ours = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "SLURM_", "OMPI_",
            "PMI", "TORCHELASTIC_")
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(ours)}
    return {"OMP_NUM_THREADS": "1", **kept, **more}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def alone(command, ranks):
    del ranks
    return [Process(command, clean_environment())]


def local_ranks(command, ranks):
    return [Process([*command, "--local_ranks", str(ranks)],
                    clean_environment())]


def mpirun(command, ranks):
    if not shutil.which("mpirun"):
        raise Unavailable("there is no mpirun (Debian: openmpi-bin)")
    return [Process(["mpirun", "--oversubscribe", "--allow-run-as-root",
                     "--bind-to", "none", "-np", str(ranks), *command],
                    clean_environment(MASTER_PORT=free_port()))]


def by_hand(command, ranks):
    port = free_port()
    return [Process(command, clean_environment(
        RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank),
        LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
        MASTER_PORT=port)) for rank in range(ranks)]


def by_flags(command, ranks):
    port = free_port()
    return [Process([*command, "--rank", str(rank), "--world_size", str(ranks),
                     "--master_port", port], clean_environment())
            for rank in range(ranks)]


def find_torchrun():
    for program in (ROOT / "build/cuda-env/bin/torchrun",
                    shutil.which("torchrun")):
        if program and pathlib.Path(program).exists():
            return str(program)
    raise Unavailable("there is no torchrun: build/cuda-env has it after "
                      "./dev build cuda")


def torchrun(command, ranks):
    # torchrun's own store answers LibTorch of its own version alone, and the
    # CPU build has Debian's: so the ranks have theirs, at another port.
    own_store = ["env", "TORCHELASTIC_USE_AGENT_STORE=False",
                 f"MASTER_PORT={free_port()}"]
    return [Process([find_torchrun(), "--no-python", "--nproc-per-node",
                     str(ranks), "--master-port", free_port(), *own_store,
                     *command],
                    clean_environment())]
