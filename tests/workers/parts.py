"""What is done to the workers of a stream, each a function whose first line of
documentation says it. It returns a line of results."""

import json
import random
import resource
import signal
import socket
import time

from figures import first_batch, one_core, receiving
from programs import Failed, make_certificates
from scene import (PORT, TOKEN, Throttle, listens, noted_counts,
                   wait_for)

SILENT = 1000


def plain(scene):
    """three workers"""
    scene.start()
    return scene.finish()


def stopped(scene):
    """one of three workers is stopped (SIGSTOP) in mid-stream"""
    scene.start()
    scene.workers[1].send(signal.SIGSTOP)
    return scene.finish()


def paused(scene):
    """one of three is stopped for 3 s: its ranges come late"""
    scene.start()
    scene.workers[1].send(signal.SIGSTOP)
    time.sleep(3)
    scene.workers[1].send(signal.SIGCONT)
    scene.wait_for_slots(1)
    return scene.finish()


def killed(scene):
    """one of three is killed in mid-stream"""
    scene.start()
    scene.workers[1].kill()
    return scene.finish()


def restarted(scene):
    """one of three is killed and started again"""
    scene.start()
    scene.workers[1].kill()
    scene.start_worker(1)
    scene.wait_for_slots(1)
    return scene.finish()


def all_killed(scene):
    """all three are killed in mid-stream"""
    scene.start()
    for worker in scene.workers.values():
        worker.kill()
    return scene.finish()


def cut(scene):
    """the cable of one of three is cut for 3 s"""
    scene.start()
    scene.hosts[1].cut()
    time.sleep(3)
    scene.hosts[1].restore()
    scene.wait_for_slots(1)
    return scene.finish()


def delay(scene):
    """what workers send arrives 50 ms later"""
    means = {host.worsen(delay=0.05) for host in scene.hosts.values()}
    return f"{plain(scene)} (by {', '.join(means)})"


def loss(scene):
    """1 % of the workers' packets are lost"""
    means = {host.worsen(loss=0.01) for host in scene.hosts.values()}
    return f"{plain(scene)} (by {', '.join(means)})"


def rate_limit(scene):
    """each worker sends 50 Mbit/s at most"""
    for host in scene.hosts.values():
        host.shape("tbf", "rate", "50mbit", "burst", "256kb", "latency",
                   "200ms")
    return plain(scene)


def slow(scene):
    """one of three has a twentieth of a CPU"""
    scene.start_workers()
    with Throttle(scene.workers[1]):
        scene.start_stream()
        scene.wait_for_slots(2)
        scene.end_stream()
    return scene.finish()


def other_data(scene):
    """one of two workers has other data; then all have"""
    scene.start_worker(1, data=scene.lab.other_data())
    scene.start_worker(2)
    return beside_a_refusing_one(scene)


def token(scene):
    """one of two workers has another token; then all; then a side has none"""
    worker = scene.program(
        scene.trainers[0], "without_token",
        scene.lab.programs / "input_worker", "--data_dir", scene.lab.data,
        "--listen", f"0.0.0.0:{PORT}", token=None)
    if worker.wait(60) != 2:
        raise Failed("a worker without a token listens at all addresses")
    scene.start_worker(1, token=TOKEN[::-1])
    scene.start_worker(2)
    scene.refused(workers=scene.list(1, 2), token=None)
    return beside_a_refusing_one(scene)


def beside_a_refusing_one(scene):
    """Worker 1 refuses the stream, and worker 2 does not."""
    print(f"  {scene.refused(workers=scene.list(1))}", flush=True)
    scene.start_stream(workers=scene.list(1, 2))
    scene.wait_for_slots(2)
    line = scene.finish()
    scene.check_unused(1)
    return line


def tls(scene):
    """TLS; one of three workers has a certificate of another authority"""
    ours, others = certificates(scene)
    scene.start_worker(1, tls=others)
    scene.start_workers(2, 3, tls=ours)
    scene.start_stream(tls=ours)
    scene.wait_for_slots(2)
    line = scene.finish()
    scene.check_unused(1)
    return line


def plain_to_tls(scene):
    """one of two workers has TLS, the trainer has not"""
    scene.start_worker(1, tls=certificates(scene)[0])
    scene.start_worker(2)
    scene.start_stream()
    scene.wait_for_slots(2)
    line = scene.finish()
    scene.check_unused(1)
    return line


def certificates(scene):
    addresses = [host.address for host in
                 (*scene.trainers, *scene.hosts.values())]
    return [make_certificates(scene.folder / name, addresses)
            for name in ("ours", "others")]


def strangers(scene):
    """1,000 silent connections and garbage at one of three workers"""
    scene.start_workers()
    scene.start_stream(batches=scene.lab.batches(30))
    scene.wait_for_slots(1)
    address = (scene.hosts[1].address, PORT)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
    silent = []
    try:
        for _ in range(SILENT):
            silent.append(socket.create_connection(address, timeout=60))
        for _ in range(20):
            for garbage in garbages():
                send(address, garbage)
        if not scene.stream.runs():
            raise Failed("the stream ended before the strangers had come")
        scene.end_stream()
    finally:
        for stranger in silent:
            stranger.close()
    wait_for(lambda: listens(address[0]), scene.workers[1],
             "it listened again")
    return scene.finish()


def garbages():
    drawn = random.Random(7).randbytes
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    return [drawn(1 << 16), b"GET / HTTP/1.1\r\nHost: worker\r\n\r\n",
            preface + drawn(1 << 12), preface,
            preface + b"\xff\xff\xff\x00\x00\x00\x00\x00\x00" + drawn(1 << 16),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + drawn(600)]


def send(address, data):
    """The worker may end the connection at any time."""
    try:
        with socket.create_connection(address, timeout=60) as stranger:
            stranger.sendall(data)
    except OSError:
        pass


def later(scene):
    """two workers are found in mid-stream, by a changed file and name"""
    listed = scene.folder / "workers"
    names = scene.folder / "hosts"
    listed.write_text(f"# None yet.\n{scene.list(1)}\n")  # It never starts.
    names.write_text(f"{scene.hosts[1].address} input-workers.test\n")
    scene.start_workers(2, 3)
    # The names are read again after 30 s.
    scene.start_stream(
        f"@{listed},dns:///input-workers.test:{PORT}",
        batches=scene.lab.batches(60),
        within=["unshare", "--mount", "sh", "-c",
                f'mount --bind "{names}" /etc/hosts && exec "$@"', "sh"])
    time.sleep(2)
    listed.write_text(f"{scene.list(2)}\n")
    names.write_text(f"{scene.hosts[3].address} input-workers.test\n")
    scene.wait_for_slots(2)
    scene.wait_for_slots(3)
    return scene.finish()


def training(scene):
    """two ranks; one of three workers is killed, one stopped: same weights"""
    data = scene.lab.photographs()
    wanted, alone = finish_training(
        scene, start_training(scene, "alone", data))
    scene.start_workers(data=data)
    ranks = start_training(scene, "with_workers", data, "--workers",
                           scene.list())
    for number in (1, 2):
        scene.wait_for_slots(number, 1, ranks[0])
    scene.workers[1].kill()
    scene.workers[2].send(signal.SIGSTOP)
    found, seconds = finish_training(scene, ranks)
    if found != wanted:
        raise Failed("other weights than without workers")
    scene.stop_workers()
    return (f"same weights of two ranks in {seconds:.1f} s ({alone:.1f} s "
            f"without workers); {scene.counts()}")


STEPS = 100


def start_training(scene, name, data, *more):
    """A rank on each of the two trainers' hosts."""
    params = ("model=lenet,image_size=28,recipe=plain,train_batch_size=256,"
              f"precision=float32,train_steps={STEPS},iterations_per_loop=10,"
              f"steps_per_checkpoint={STEPS}")
    return [scene.program(
        host, f"{name}_{rank}", scene.lab.programs / "train_resnet", "--mode",
        "train", "--device", "cpu", "--data_dir", data, "--model_dir",
        scene.folder / name, "--params_override", params,
        "--num_parallel_calls", 1, *more, RANK=str(rank), WORLD_SIZE="2",
        LOCAL_RANK="0", LOCAL_WORLD_SIZE="1",
        MASTER_ADDR=scene.trainers[0].address, MASTER_PORT="29500")
            for rank, host in enumerate(scene.trainers)]


def finish_training(scene, ranks):
    """The bytes of the final weights, and the seconds of the training."""
    for rank in ranks:
        code = rank.wait()
        if code != 0:
            raise Failed(f"a rank ended with exit code {code}:\n"
                         f"{rank.text()[-2000:]}")
    model = scene.folder / ranks[0].name.removesuffix("_0")
    weights = model / f"checkpoint-{STEPS:08}" / "model.safetensors"
    return weights.read_bytes(), ranks[0].seconds()


def rate(scene):
    """images/s and the trainer's CPU time, without workers and with two"""
    alone = measured(scene, "alone")
    scene.start_workers()
    beside = measured(scene, "with_workers", "--workers", scene.list())
    scene.stop_workers()
    return (f"one thread alone {alone}; with two workers of one thread "
            f"{beside}; {scene.counts()}")


def measured(scene, name, *flags):
    report = scene.folder / f"{name}.json"
    program = scene.program(
        scene.trainers[0], name, scene.lab.programs / "pipeline_throughput",
        "--data_dir", scene.lab.data, "--threads", 1, "--seconds", 5,
        "--rounds", 1, "--json", report, *flags)
    if program.wait() != 0:
        raise Failed(program.text()[-2000:])
    found = json.loads(report.read_text())
    return (f"{found['images_per_second']['median']:.0f} images/s, "
            f"{found['cpu_seconds_per_1000_images']:.3f} CPU s per 1,000"
            f"{noted_counts(report)}")


# The workers' hosts of each.
PARTS = {plain: 3, stopped: 3, paused: 3, killed: 3, restarted: 3,
         all_killed: 3, cut: 3, delay: 3, loss: 3, rate_limit: 3, slow: 3,
         other_data: 2, token: 2, tls: 3, plain_to_tls: 2, strangers: 3,
         later: 3, training: 3, rate: 2, receiving: 0, one_core: 0,
         first_batch: 4}
