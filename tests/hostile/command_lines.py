"""Random command lines: flags of --help_all with values of every kind, right,
wrong and absurd. Each ends with a documented code and says why; a dry run
writes nothing."""

import functools
import re
import subprocess

import trees

SHORT_CASES = 25
VERBS = ["ls", "count", "cat", "head", "verify", "stats", "extract", "index",
         "repair", "reshard", "merge", "split", "diff"]
WRITERS = ["extract", "repair", "reshard", "merge", "split"]
# What would work for longer than a case may, or wait for others.
LEFT_OUT = {"--local_ranks", "--coordinator", "--world_size",
            "--rank", "--num_tasks", "--task_index", "--finish", "--made",
            "--seconds", "--rounds", "--device_rate", "--dry_run", "--help",
            "--help_all", "--version", "--params_override",
            "--param_overrides"}
WORDS = ["", "0", "1", "-1", "2", "7", "1e9", "1e400", "-0", "nan", "0x10",
         "99999999999999999999", "3.5", "true", "no", "auto", "none", "a,b",
         ",", "=", "x=1", "../x", "*", "[v1]", "{1..3}", "{1..9999999999}",
         "%s%n", "\x1b[31mred", "k\u00e4se", "\u202e", "x" * 5000, "4GiB",
         "50%", "-5MB", "224x320", "0x0", "s3://", "s3://KEY:SECRET@b/x",
         "file:///etc/passwd", "http://127.0.0.1:1/x", "/dev/null", "/dev/zero",
         "/etc/passwd", "--", "-"]


@functools.lru_cache
def flags_of(program, verb):
    """[flag, the values it takes] as the program's help lists them; None: any,
    []: none."""
    done = subprocess.run([program, *([verb] if verb else []), "--help_all"],
                          capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        match = re.match(r"  (?:-\w,)?(--[a-z_,\-]+)(.*)", line)
        if match:
            found += [(name, values_in(match[2])) for name in match[1].split(",")
                      if name.startswith("--") and name not in LEFT_OUT]
    return found


def values_in(text):
    """"  tpu|plain  Recipe" -> tpu, plain."""
    if not re.match(r"[\[= ][^ ]", text):
        return []
    choices = re.match(r" ([a-z_0-9.]+(?:\|[a-z_0-9.]+)+)", text)
    return choices[1].split("|") if choices else None


def value(case):
    """A word or a path, of what is there or not."""
    if case.random.random() < 0.6:
        return case.random.choice(WORDS)
    return case.random.choice([
        case.inputs.data, case.inputs.images, case.inputs.shards_of_data[0],
        case.inputs.model, case.work / "new", case.work,
        case.inputs.data / "dataset.json", f"{case.inputs.data}/train-*",
        f"{case.inputs.data},{case.inputs.images}"])


def drawn_flags(case, program, verb):
    flags = flags_of(case.inputs.programs / program, verb)
    words = []
    for _ in range(case.random.choice([0, 1, 1, 1, 2, 5])):
        name, values = case.random.choice(flags)
        if case.random.randrange(12) == 0:  # Misspelt.
            at = case.random.randrange(2, len(name))
            name = name[:at] + name[at + 1:]
        given = str(case.random.choice(values) if values and
                    case.random.random() < 0.8 else value(case))
        takes = (values != []) != (case.random.random() < 0.1)
        words += ([f"{name}={given}"] if takes and case.random.random() < 0.5
                  else [name, given] if takes else [name])
    return words


def needed(case, program):
    """What makes the rest of a command line right."""
    if program == "train_resnet":
        return ["--dry_run", *case.inputs.training(case.inputs.data,
                                                   case.work / "model", 2)]
    if program == "imagenet_to_records":
        return ["--dry_run", "--raw_data_dir", case.inputs.images,
                "--local_scratch_dir", case.work / "out"]
    return ["--dry_run", "--data_dir", case.inputs.data, "--batch_size", "8"]


def check_reason(case, program, ended):
    """The last line says why, in the name of the program."""
    lines = ended.errors.strip().splitlines()
    case.expect(ended.code == 0 or bool(lines) and
                lines[-1].startswith(f"{program}: "),
                f"{program}: exit code {ended.code}, last line: {lines[-1:]}")
    for text in (ended.errors, ended.output):
        case.expect("\x1b" not in text, f"{program}: an escape was printed")
        case.expect("SECRET" not in text, f"{program}: a secret was printed")


def dry_run(case, program):
    words = drawn_flags(case, program, None)
    if case.random.random() < 0.7:
        words = [*needed(case, program), *words]
    else:
        words.append("--dry_run")
    before = trees.fingerprint(case.work)
    check_reason(case, program, case.run(program, *words))
    after = {name: digest for name, digest in
             trees.fingerprint(case.work).items()
             if not name.startswith("cache")}
    change = trees.first_change(before, after)
    case.expect(change is None, f"{program}: a dry run wrote: {change}")


def inspect(case):
    verb = case.random.choice(VERBS)
    words = drawn_flags(case, "records", verb)
    paths = [value(case) for _ in range(case.random.choice([0, 1, 1, 2]))]
    if case.random.random() < 0.6:
        paths = [case.copy(case.inputs.data)]
        if verb in WRITERS:
            paths += ["--output", case.work / "out"]
    check_reason(case, "records", case.run("records", verb, *words, *paths))


def run(case):
    for good in (case.inputs.images, case.inputs.data, case.inputs.model):
        case.protect(good)
    program = case.random.choice(["train_resnet", "imagenet_to_records",
                                  "pipeline_throughput", "records"])
    if program == "records":
        inspect(case)
    else:
        dry_run(case, program)
