"""What is run on stores and on a disk, and compared."""

import hashlib
import os
import signal
import subprocess
import time

STEPS = 4
PARAMETERS = ("resnet_depth=18,image_size=32,train_batch_size=8,"
              "precision=float32,"
              "iterations_per_loop=1,steps_per_checkpoint=1,keep_last=2,"
              f"steps_per_eval=2,train_steps={STEPS}")
FILES = ["model.safetensors", "optim.safetensors", "state.json", "MANIFEST"]


def sum_of(data):
    return hashlib.sha256(data).hexdigest()[:16]


class Place:
    """A folder of this disk, the programs, and the stores."""

    def __init__(self, out, programs, moto, gcs):
        self.out, self.programs = out, programs
        self.moto, self.gcs = moto, gcs
        self.is_good = True
        self.environment = dict(os.environ)
        self.point_at("AWS", moto)
        self.point_at("GS", moto)

    def point_at(self, kind, store):
        """Tells programs where a scheme's store is, and a key for it."""
        self.environment[f"{kind}_ENDPOINT_URL"] = store.url
        self.environment[f"{kind}_ACCESS_KEY_ID"] = "of-a-test"
        self.environment[f"{kind}_SECRET_ACCESS_KEY"] = "of-a-test-too"

    def check(self, what, good):
        self.is_good = self.is_good and good
        print(f"{'same ' if good else 'OTHER'}  {what}", flush=True)

    def run(self, program, *flags):
        """Its stdout."""
        with open(self.out / "log", "ab") as log:
            return subprocess.run(
                [self.programs / program, *map(str, flags)],
                check=program != "records", env=self.environment, stdout=subprocess.PIPE, stderr=log,
                text=True).stdout

    def convert(self, url):
        """Shards on this disk and at a URL."""
        images = self.out / "images"
        self.run("make_demo_images", "--output", images, "--train", 192,
                 "--validation", 48)
        self.run("imagenet_to_records", "--raw_data_dir", images, "--shards",
                 2, "--local_scratch_dir", self.out / "shards",
                 "--gcs_output_path", url)
        self.diff(url)

    def diff(self, url):
        told = self.run("records", "diff", self.out / "shards", url).strip()
        self.check(f"shards at {url}: {told}", told.endswith(", the same"))

    def flags(self, root, data):
        return ["--data_dir", data, "--model_dir", f"{root}/model",
                "--export_dir", f"{root}/exports", "--format", "safetensors",
                "--local_scratch_dir", self.out / "scratch",
                "--device", "cpu", "--params_override", PARAMETERS]

    def train(self, name, root, data):
        start = time.monotonic()
        self.run("train_resnet", *self.flags(root, data))
        print(f"trained  {name}: {STEPS} steps of ResNet-18, "
              f"{time.monotonic() - start:.1f} s", flush=True)

    def kill_one(self, root, data):
        """A training that is killed when its second checkpoint is made."""
        with subprocess.Popen(
                [self.programs / "train_resnet",
                 *map(str, self.flags(root, data))], env=self.environment,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True) as program:
            for line in program.stderr:
                if line.startswith("checkpoint at step 2:"):
                    break
            program.send_signal(signal.SIGKILL)
        print(f"killed   {root} after step 2", flush=True)

    def compare(self, root):
        """The last checkpoint there with that on the disk."""
        bucket = root.split("://")[1]
        name = f"model/checkpoint-{STEPS:08}"
        for file in FILES:
            here = (self.out / "local" / name / file).read_bytes()
            there = self.moto.get(f"{bucket}/{name}/{file}")
            self.check(f"{root}/{name}/{file}: {len(there)} bytes, "
                       f"sha256 {sum_of(there)}", here == there)

    def read_from_gcs(self, root):
        """Data and a model there, put by that store's own interface."""
        for folder in ("shards", "local"):
            for path in sorted((self.out / folder).rglob("*")):
                if path.is_file() and "/.infeed/" not in str(path):
                    self.gcs.put(str(path.relative_to(self.out)).replace(
                        "/", "%2F"), path.read_bytes())
        self.point_at("GS", self.gcs)
        self.diff(root + "/shards")
        predict = ["--mode", "predict", "--device", "cpu",
                   "--local_scratch_dir", self.out / "scratch"]
        here = self.run("train_resnet", *predict, "--data_dir",
                        self.out / "shards", "--model_dir",
                        self.out / "local/model")
        there = self.run("train_resnet", *predict, "--data_dir",
                         root + "/shards", "--model_dir",
                         root + "/local/model")
        strip = f"{self.out}/"
        self.check(f"{len(here.splitlines())} predictions by the model there",
                   here.replace(strip, "") == there.replace(root + "/", ""))
