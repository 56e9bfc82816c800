"""check.py WHEEL INTERPRETER [PACKAGE ...]: installs the wheel into a bare
environment and uses it there; beside other packages, if any are named."""

import base64
import contextlib
import http.server
import itertools
import os
import pathlib
import random
import re
import ssl
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
import zlib

BUILD = pathlib.Path("build/release/bin")
# 4 x 3 pixels without loss.
WEBP = base64.b64decode("UklGRj4AAABXRUJQVlA4TDIAAAAvA4AAAF+gIG0DpvMv+pqYAANp24ay7Z//LuALAjEM8jNAEEDilEEG422wwawR/Y/cUQ==")
BATCHES = 20
# A user's first program; prints the batches' hash.
PROGRAM = """
import hashlib, itertools, sys, infeed
train = infeed.Loader(sys.argv[1], batch_size=16, image_size=32, seed=3,
                      recipe="torchvision")
sha = hashlib.sha256()
for batch in itertools.islice(train.repeat(), int(sys.argv[2])):
    sha.update(batch.images.tobytes())
    sha.update(batch.labels.tobytes())
print(sha.hexdigest())
"""
# The same with an input worker, until that made many images; prints the number
# of batches, too.
WITH_WORKER = """
import hashlib, sys, time, infeed
train = infeed.Loader(sys.argv[1], batch_size=16, image_size=32, seed=3,
                      recipe="torchvision", threads=1, workers=sys.argv[2])
sha = hashlib.sha256()
end = time.monotonic() + 60
for number, batch in enumerate(train.repeat(), 1):
    sha.update(batch.images.tobytes())
    sha.update(batch.labels.tobytes())
    workers = train.stats["workers"]
    if any(worker["images"] > 1000 for worker in workers):
        break
    assert time.monotonic() < end, workers
print(number, sha.hexdigest())
"""
IMAGES = """
import sys, infeed
jpeg = infeed.records.open(sys.argv[1]).parse(0)["image/encoded"][0]
assert infeed.decode_image(jpeg, size=8).shape == (8, 8, 3)
assert infeed.decode_image(open(sys.argv[2], "rb").read()).shape == (40, 48, 3)
webp = infeed.decode_image(open(sys.argv[3], "rb").read())
assert webp.tolist() == [[[x, y, 5] for x in range(4)] for y in range(3)], webp
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}"
                 f"\n{done.stdout}{done.stderr}")
    return done.stdout


def png(width, height):
    """Noise: 8 bits of R, G and B."""
    rows = b"".join(b"\0" + random.randbytes(3 * width) for _ in range(height))

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make_images(folder):
    random.seed(1)
    for name in ("cat", "dog"):
        (folder / "train" / name).mkdir(parents=True)
        for number in range(24):
            (folder / "train" / name / f"{number}.png").write_bytes(
                png(48, 40))
        (folder / "train" / name / "x.webp").write_bytes(WEBP)


def pack_images(folder, work):
    """The folder as a zip, and as WebDataset samples in a tar."""
    with zipfile.ZipFile(work / "images.zip", "w") as pack, \
            tarfile.open(work / "images.tar", "w") as tar:
        for number, path in enumerate(sorted(folder.rglob("*.*"))):
            pack.write(path, path.relative_to(folder))
            label = work / "label"
            label.write_text("01"[path.parent.name == "dog"])
            tar.add(path, f"{number:04}{path.suffix}")
            tar.add(label, f"{number:04}.cls")


def hash_flags(data):
    return ["--data_dir", data, "--batch_size", 16, "--image_size", 32,
            "--seed", 3, "--recipe", "torchvision", "--layout", "rgb",
            "--hash", BATCHES]


def check_programs(bin_folder, work):
    infeed = bin_folder / "infeed"
    print(run(infeed, "convert", "--version").strip())
    run(infeed, "convert", "--raw_data_dir", work / "images",
        "--local_scratch_dir", work / "shards", "--shards", 2)
    shards = work / "shards"
    counted = run(infeed, "records", "count", shards)
    if "50" not in counted:
        sys.exit(f"infeed records count: {counted}")


def check_batches(python, data, programs):
    """The programs, each a command as Python's is, have the batches of the
    module."""
    digest = run(*python, "-c", PROGRAM, data, BATCHES).strip()
    for name, program in programs.items():
        text = run(*program, *hash_flags(data))
        if digest not in text:
            sys.exit(f"{data.name}: {BATCHES} batches are {digest}, {name} "
                     f"says:\n{text}")
    print(f"{data.name}: {BATCHES} batches are {digest}, as with",
          " and ".join(programs))


def check_images(python, work):
    run(*python, "-c", IMAGES, work / "shards",
        next((work / "images").rglob("*.png")),
        next((work / "images").rglob("*.webp")))


class Files(http.server.BaseHTTPRequestHandler):
    """A folder's files by ranges, which the standard's server lacks."""
    folder = pathlib.Path()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.folder / self.path.strip("/")
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        first, last = 0, len(data) - 1
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)",
                             self.headers.get("Range", ""))
        if asked:
            first = int(asked[1])
            last = min(last, int(asked[2] or last))
        self.send_response(206 if asked else 200)
        self.send_header("Content-Range",
                         f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("ETag", '"1"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[first:last + 1])

    def log_message(self, *_):
        pass


def check_tls(bin_folder, work):
    """The wheel's libcurl and OpenSSL, with a certificate of SSL_CERT_FILE."""
    shard = next((work / "shards").rglob("train-00000-of-*"))
    Files.folder = shard.parent
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2,
        "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
        "-keyout", work / "key.pem", "-out", work / "certificate.pem")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(work / "certificate.pem", work / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://127.0.0.1:{server.server_port}/{shard.name}"
    os.environ["SSL_CERT_FILE"] = str(work / "certificate.pem")
    count = run(bin_folder / "infeed", "records", "count", url)
    del os.environ["SSL_CERT_FILE"]
    server.shutdown()
    print("over TLS:", count.strip().splitlines()[-1])


@contextlib.contextmanager
def running_worker(program, data):
    """The address of an input worker that serves the data meanwhile."""
    command = [*program, "--data_dir", data, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE,
                          text=True) as worker:
        text = ""
        for line in worker.stderr:
            text += line
            serving = re.match("serving .* at (127.0.0.1:[0-9]+),", line)
            if serving:
                break
        else:
            sys.exit(f"infeed worker: exit code {worker.wait()}\n{text}")
        try:
            yield serving[1]
        finally:
            worker.terminate()


def check_worker(python, data, address):
    number, digest = run(*python, "-c", WITH_WORKER, data, address).split()
    alone = run(*python, "-c", PROGRAM, data, number).strip()
    if digest != alone:
        sys.exit(f"{number} batches are {alone}, with a worker {digest}")
    print(f"{number} batches with a worker are those without")


def check_beside(python, data, package, address):
    """Libraries that both bring must not meet, whichever comes first."""
    for first, second in itertools.permutations((package, "infeed")):
        program = f"import {first}\nimport {second}\n{WITH_WORKER}"
        run(python, "-c", program, data, address)
    print(f"imports beside {package} in both orders")


def main():
    wheel, interpreter, *packages = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        run(interpreter, "-m", "venv", work / "env")
        python = work / "env/bin/python"
        run(python, "-m", "pip", "install", "--quiet", wheel, *packages)
        make_images(work / "images")
        pack_images(work / "images", work)
        check_programs(work / "env/bin", work)
        programs = {"the wheel's program": [work / "env/bin/infeed",
                                            "throughput"]}
        if (BUILD / "pipeline_throughput").exists():
            programs["build/release's"] = [BUILD / "pipeline_throughput"]
        for name in ("shards", "images", "images.zip", "images.tar"):
            check_batches([python], work / name, programs)
        check_images([python], work)
        check_tls(work / "env/bin", work)
        shards = work / "shards"
        worker = [work / "env/bin/infeed", "worker"]
        with running_worker(worker, shards) as address:
            check_worker([python], shards, address)
            for package in packages:
                name = {"grpcio": "grpc", "opencv-python-headless": "cv2",
                        "tensorflow-cpu": "tensorflow"}.get(package, package)
                check_beside(python, shards, name, address)
    print(f"{wheel}: good with {interpreter}")


if __name__ == "__main__":
    main()
