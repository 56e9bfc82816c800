"""What is measured: one row of the table each, and how it is started."""

import json
import pathlib
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
BATCH = 128
OURS = "infeed"
TORCHVISION = ("--recipe", "torchvision")
A1 = ("--augment", "timm_randaugment", "--augment_magnitude", "7",
      "--augment_magnitude_std", "0.5")


# Groups that make their own data; each has a table of its own.
UNITS = {"records": "records/s", "detection": "images/s of 640x640"}


class Row(NamedTuple):
    key: str
    system: str  # its name in the table
    work: str
    data: str    # of data_sets.py
    group: str   # for --only; infeed and the bare decoder are always measured
    arguments: tuple = ()
    needs: str = ""  # of environments.py, if it is not the group

    @property
    def unit(self):
        return UNITS.get(self.group, "images/s")


ROWS = [
    Row("tf_reference", "tf.data", "reference crop, legacy bicubic", "plain",
        "tf", ("tf_data.py", "reference")),
    Row("tf_antialias", "tf.data", "antialiased bilinear", "plain", "tf",
        ("tf_data.py", "antialias")),
    Row("tf_bilinear", "tf.data", "plain bilinear", "plain", "tf",
        ("tf_data.py", "bilinear")),
    Row("dali_antialias", "DALI, CPU", "antialiased linear", "plain", "dali",
        ("dali.py", "antialias")),
    Row("dali_cubic", "DALI, CPU", "antialiased cubic", "plain", "dali",
        ("dali.py", "cubic")),
    Row("torch_tensor", "torch DataLoader, decode_jpeg",
        "antialiased bilinear", "plain", "torch",
        ("torch_loader.py", "tensor")),
    Row("torch_pillow", "torch DataLoader, Pillow", "antialiased bilinear",
        "plain", "torch", ("torch_loader.py", "pillow")),
    Row("torch_trivial", "torch DataLoader, decode_jpeg, v2 on uint8",
        "antialiased bilinear, TrivialAugmentWide", "plain", "recipes",
        ("torch_loader.py", "trivial")),
    Row("torch_rand", "torch DataLoader, decode_jpeg, v2 on uint8",
        "antialiased bilinear, RandAugment(2, 7)", "plain", "recipes",
        ("torch_loader.py", "rand")),
    Row("trivial", OURS, "antialiased bilinear, trivialaugment", "plain",
        "recipes", (*TORCHVISION, "--augment", "trivialaugment")),
    Row("trivial_rows", f"{OURS}, row index",
        "antialiased bilinear, trivialaugment", "rows", "recipes",
        (*TORCHVISION, "--augment", "trivialaugment")),
    Row("rand", OURS, "antialiased bilinear, A1's timm_randaugment", "plain",
        "recipes", (*TORCHVISION, *A1)),
    Row("image_folder", "torch DataLoader, ImageFolder", "antialiased bilinear",
        "folder", "forms", ("files_loader.py", "image_folder")),
    Row("webdataset", "torch DataLoader, webdataset, decode_jpeg",
        "antialiased bilinear", "tars", "forms",
        ("files_loader.py", "webdataset")),
    Row("folder", f"{OURS}, the folder", "antialiased bilinear", "folder",
        "forms", TORCHVISION),
    Row("folder_rows", f"{OURS}, the folder, row index", "antialiased bilinear",
        "folder_rows", "forms", TORCHVISION),
    Row("tars", f"{OURS}, the tars", "antialiased bilinear", "tars", "forms",
        TORCHVISION),
    Row("tars_rows", f"{OURS}, the tars, row index", "antialiased bilinear",
        "tars_rows", "forms", TORCHVISION),
    Row("spdl", "SPDL", "bilinear", "plain", "spdl",
        ("spdl_loader.py", "bilinear")),
    Row("ffcv_original", "FFCV, re-encoded at quality 95", "areas/bilinear",
        "original", "ffcv", ("ffcv_loader.py", "area")),
    Row("ffcv_shrunk", "FFCV, longer side 256, quality 90", "areas/bilinear",
        "shrunk", "ffcv", ("ffcv_loader.py", "area")),
    Row("libjpeg", "libjpeg-turbo alone", "reference crop, decode only",
        "plain", "decoder"),
    Row("tpu", OURS, "reference crop, legacy bicubic", "plain", OURS,
        ("--recipe", "tpu")),
    Row("tpu_rows", f"{OURS}, row index", "reference crop, legacy bicubic",
        "rows", OURS, ("--recipe", "tpu")),
    Row("tpu_mcu4", f"{OURS}, every 4th MCU", "reference crop, legacy bicubic",
        "mcu4", OURS, ("--recipe", "tpu")),
    Row("torchvision", OURS, "antialiased bilinear", "plain", OURS,
        TORCHVISION),
    Row("torchvision_rows", f"{OURS}, row index", "antialiased bilinear",
        "rows", OURS, TORCHVISION),
    Row("python", f"{OURS} from Python, RGB tensors", "antialiased bilinear",
        "plain", "python", ("infeed_loader.py", "torch")),
    Row("python_rows", f"{OURS} from Python, RGB tensors, row index",
        "antialiased bilinear", "rows", "python",
        ("infeed_loader.py", "torch")),
    Row("bilinear", OURS, "reference crop, plain bilinear", "plain", OURS,
        ("--recipe", "tpu", "--interpolation", "bilinear")),
    Row("as_ffcv", f"{OURS}, FFCV's JPEGs of side 256, row index",
        "antialiased bilinear", "as_ffcv", OURS, TORCHVISION),
    Row("as_ffcv_none", f"{OURS}, FFCV's JPEGs of side 256",
        "antialiased bilinear", "as_ffcv", OURS,
        ("--recipe", "torchvision", "--seek_index", "off")),
    Row("shorter", f"{OURS}, shorter side 256, quality 90, row index",
        "antialiased bilinear", "shorter", OURS, TORCHVISION),
    *(Row(f"{data}{key}", system, work, data, "records",
          (script, f"{data}_inline" if key == "_inline" else data), needs)
      for data, work in (("texts", "224 ids, a mask, a label"),
                         ("mixed", "30 features of all kinds"))
      for key, system, script, needs in (
          ("_tf", "tf.data, parse_example of a batch", "tf_data.py", "tf"),
          ("_tfrecord", "tfrecord (PyPI)", "tfrecord_package.py", "tfrecord"),
          ("_dali", "DALI, CPU", "dali.py", "dali"),
          ("", f"{OURS} from Python, fields", "infeed_loader.py", "tf"),
          ("_inline", f"{OURS} from Python, fields, no threads",
           "infeed_loader.py", "tf"))),
    *(Row(f"{data}{key}", system, work, data, "detection", arguments)
      for data, work in (("raccoon", "200 raccoons, a box each"),
                         ("coco_like", "500 photographs of 640x480, 7 boxes"))
      for key, system, arguments in (
          ("_tensor", "torchvision v2, decode_jpeg",
           ("boxes_loader.py", "tensor")),
          ("_tensor_inline", "torchvision v2, decode_jpeg, no worker process",
           ("boxes_loader.py", "tensor_inline")),
          ("_pillow", "torchvision v2, Pillow", ("boxes_loader.py", "pillow")),
          ("_pillow_inline", "torchvision v2, Pillow, no worker process",
           ("boxes_loader.py", "pillow_inline")),
          ("", f"{OURS} from Python, objects", ("infeed_loader.py", "boxes")))),
]
GROUPS = list(dict.fromkeys(row.group for row in ROWS
                            if row.group not in (OURS, "decoder")))


def chosen(only):
    """The rows of some groups, and beside images what is always measured."""
    always = () if only and set(only) <= set(UNITS) else (OURS, "decoder")
    return [row for row in ROWS if not only or row.group in (*only, *always)]


def has_one_thread(row):
    """Whether more cores would not be used."""
    return (row.group == "decoder" or row.needs == "tfrecord"
            or row.key.endswith("_inline"))


def is_ours(row):
    """Whether the row's arguments are those of pipeline_throughput."""
    return row.group == OURS or (
        row.group in ("forms", "recipes") and row.arguments[0].startswith("--"))


class Starter:
    """Builds a row's command and reads what it said."""

    def __init__(self, data, environments, programs, seconds):
        self.data = data
        self.environments = environments
        self.programs = pathlib.Path(programs)
        self.seconds = seconds
        self.report = data.work / "report.json"

    def prepare(self, row):
        """Makes what the row needs. Raises Unavailable."""
        self.data.files(row.data)
        if row.group != "decoder" and not is_ours(row):
            self.environments.python(row.needs or row.group)

    def command(self, row, cores):
        files = self.data.files(row.data)
        if is_ours(row):
            # Seek indexes as in the row, not ones found by the run.
            data = files[0] if files[0].is_dir() else files[0].parent
            how = [] if "--seek_index" in row.arguments else ["--seek_index",
                                                              "read"]
            return [self.programs / "pipeline_throughput", "--data_dir", data,
                    "--batch_size", BATCH, "--threads", cores, "--seconds",
                    self.seconds, "--rounds", 1, "--json", self.report,
                    *row.arguments, *how]
        if row.group == "decoder":
            return [self.programs / "decode_bench", "--epochs", 1,
                    "--repetitions", 1, "--json", files[0].parent]
        script, work = row.arguments
        python = self.environments.python(row.needs or row.group)
        return [python, HERE / script, "--work", work, "--cores", cores,
                "--seconds", self.seconds, *files]

    def check_command(self, row):
        """Of what compares the boxes of a row's data with torchvision's."""
        return [self.environments.python(row.needs or row.group),
                HERE / "same_boxes.py", *self.data.files(row.data)]

    def measure(self, row, output):
        """What a command that ended well has measured."""
        if is_ours(row):
            return of_ours(json.loads(self.report.read_text()))
        if row.group == "decoder":
            return of_decoder(json.loads(output))
        return json.loads(output.splitlines()[-1])


def of_ours(report):
    fast = report["runs"][0]
    busy = {stage["name"]: stage["busy_seconds"] for stage in fast["stages"]}
    work = busy["decode"] + busy["resize"]
    return {"images_per_second": fast["images_per_second"]["median"],
            "cpu_seconds_per_1000": fast["cpu_seconds_per_1000_images"],
            "peak_rss_bytes": report["peak_rss_bytes"],
            "simd_target": report["simd_target"],
            "first_batch_seconds": fast["first_batch_seconds"],
            "overhead": 1 - work / (fast["threads"] * fast["elapsed_seconds"])}


def of_decoder(report):
    row = next(row for row in report["rows"]
               if row["what"] == "training window -> RGB, no index")
    return {"images_per_second": 1e6 / row["theirs_mean_us"],
            "system": "libjpeg-turbo", "target": report["target"],
            "version": report["versions"][0].split()[-1]}

