"""Checks what `train_resnet --mode export` wrote, without our code.

Run by hand:  python3 tests/interop/check_export.py EXPORT_DIR/SECONDS

Wants the packages onnx, onnxruntime, OpenCV, torch and, for a model that
torchvision has, torchvision and safetensors; says which are not installed. All
logits of random pixels, of one image and of five, must agree to 1e-4; to that
share of the largest where it is above 1.

Last run with onnx 1.23.2, onnxruntime 1.31.1, safetensors 0.8.0, PyTorch 2.15.0,
torchvision 0.29.2 and OpenCV 5.0.0.
"""

import importlib
import json
import pathlib
import sys

TOLERANCE = 1e-4
missing = set()


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        missing.add(name)
        return None


def compare(what, logits, expected):
    import numpy

    assert logits.shape == expected.shape, what
    difference = float(numpy.abs(logits - expected).max())
    largest = float(numpy.abs(expected).max())
    print(f"  {what}: {difference:.1e} of {largest:.2f}")
    assert difference < TOLERANCE * max(1, largest), what


def onnx_logits(path, pixels, facts):
    onnx, runtime = package("onnx"), package("onnxruntime")
    if onnx:
        onnx.checker.check_model(str(path), full_check=True)
        model = onnx.load(path)
        (entry,) = model.metadata_props
        assert json.loads(entry.value) == facts
        print(f"  onnx's checker takes {path.name}, IR {model.ir_version}")
    if runtime:
        session = runtime.InferenceSession(
            str(path), providers=["CPUExecutionProvider"]
        )
        (result,) = session.run(None, {facts["input"]["name"]: pixels})
        return result
    return None


def opencv_logits(path, pixels):
    cv2 = package("cv2")
    if not cv2:
        return None
    net = cv2.dnn.readNetFromONNX(str(path))
    net.setInput(pixels)
    return net.forward()


def torchscript_logits(path, pixels):
    torch = package("torch")
    if not torch:
        return None
    model = torch.jit.load(str(path))
    with torch.no_grad():
        return model(torch.from_numpy(pixels)).numpy()


def library_logits(path, pixels, facts):
    models, _, name = facts["trained"]["loads_in"].rpartition(".")
    library, torch = package(models), package("torch")
    safetensors = package("safetensors.torch")
    if not (library and torch and safetensors):
        return None
    model = getattr(library, name)(num_classes=facts["num_label_classes"])
    model.load_state_dict(safetensors.load_file(path), strict=True)
    print(f"  {models} loads it, strict=True")
    mean, std = (
        torch.tensor(facts["normalization"][key]).reshape(1, 3, 1, 1)
        for key in ("mean", "std")
    )
    with torch.no_grad():
        return model.eval()((torch.from_numpy(pixels) - mean) / std).numpy()


def all_logits(folder, pixels, facts):
    """Yields (who, logits) for whatever can be run here."""
    if (folder / "model.onnx").exists():
        yield "onnxruntime", onnx_logits(folder / "model.onnx", pixels, facts)
        yield "OpenCV", opencv_logits(folder / "model.onnx", pixels)
    if (folder / "model.torchscript").exists():
        yield "TorchScript", torchscript_logits(
            folder / "model.torchscript", pixels
        )
    if "loads_in" in facts["trained"]:
        yield facts["trained"]["loads_in"], library_logits(
            folder / "model.safetensors", pixels, facts
        )


def main():
    import numpy

    folder = pathlib.Path(sys.argv[1])
    facts = json.loads((folder / "preprocessing.json").read_text())
    for batch in (1, 5):
        shape = [batch, *facts["input"]["shape"][1:]]
        pixels = numpy.random.default_rng(batch).integers(0, 256, shape)
        pixels = pixels.astype(numpy.float32)
        print(f"{folder}, batch of {batch}")
        runs = [run for run in all_logits(folder, pixels, facts)
                if run[1] is not None]
        for who, logits in runs[1:]:
            compare(f"{who} and {runs[0][0]}", logits, runs[0][1])
    if missing:
        print("not installed:", ", ".join(sorted(missing)))


if __name__ == "__main__":
    main()
