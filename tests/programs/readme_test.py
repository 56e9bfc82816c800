"""The three doors of README.md, line by line, on some drawn images.

usage: readme_test.py README PROGRAMS EXAMPLE [PACKAGE]
PROGRAMS: the folder of the built programs. EXAMPLE: the source that the C++
lines are from. PACKAGE: the folder in which the Python package was built.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

# Parameters that make the training on a reader's own images short enough for a
# test.
SHORT = "resnet_depth=18,image_size=32,train_steps=2,train_batch_size=8"


def block(readme, language):
    return re.search(rf"```{language}\n(.*?)```", readme, re.DOTALL)[1]


def run(folder, script):
    done = subprocess.run(["bash", "-euc", script], cwd=folder, text=True,
                          capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{script}\nexit code {done.returncode}\n{done.stderr}")
    return done.stdout


def check_shell(readme, folder, programs):
    build, *lines = block(readme, "sh").splitlines()
    if "./dev build" not in build:
        sys.exit(f"not the line that builds: {build}")
    script = "\n".join(lines)
    if "resnet_depth=18,image_size=64" not in script:
        sys.exit("the training's line has changed")
    script = script.replace("resnet_depth=18,image_size=64", SHORT)
    script = script.replace("pipeline_throughput ",
                            "pipeline_throughput --seconds 0.2 ")
    out = run(folder, f"export PATH={programs}:$PATH\n{script}")
    # 100 predictions, and the rate.
    if out.count('{"file":') != 100 or "images/s" not in out:
        sys.exit(f"the programs printed\n{out[:1000]}")


def check_cpp(readme, example):
    includes, lines = block(readme, "cpp").split("\n\n", 1)
    text = example.read_text()
    if includes not in text or textwrap.indent(lines, "    ") not in text:
        sys.exit(f"README.md's C++ lines are not those of {example}")


def check_python(readme, folder, package):
    lines = block(readme, "python").replace("DATA", "SHARDS").replace(
        "batch_size=256", "batch_size=8").replace('"torch"', '"numpy"', 1)
    script = "steps = []\ndef step(images, labels): steps.append(labels)\n" + \
        lines + "\nassert len(steps) == 11, len(steps)\nassert saved\n"
    (folder / "door.py").write_text(script)
    run(folder, f"PYTHONPATH={package} {sys.executable} door.py")


def main():
    readme, programs, example, *package = map(pathlib.Path, sys.argv[1:])
    text = readme.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(folder, f"{programs}/make_demo_images --output images --train 100 "
            "--validation 8 2>&1 && mv images/train PHOTOS")
        check_shell(text, folder, programs)
        check_cpp(text, example)
        if package:
            check_python(text, folder, package[0])


if __name__ == "__main__":
    main()
