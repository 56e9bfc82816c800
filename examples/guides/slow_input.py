"""The guide's slow input and its good one: how long a device waits."""

import charts
import event_files
import flowers

BATCH = 32


def replay(place):
    """A quick model, so that a slow input is seen: LeNet at 28 pixels."""
    if place.short:
        images = "pictures"
        flowers.draw_large(place.out / images)
    else:
        images = place.data.resolve() / "imagenet-sample"
    for name, flags in (("photographs", ()),
                        ("packed", ("--format=pixels", "--image_size=28"))):
        place.run("imagenet_to_records", "--raw_data_dir", images,
                  "--local_scratch_dir", name, *flags)
    waits = {
        "basic, one by one":
            wait_of(place, "photographs", "basic", "--graph=basic"),
        "overlapped":
            wait_of(place, "photographs", "overlapped"),
        "overlapped, packed": wait_of(place, "packed", "optimised")}
    show(place, waits)


def wait_of(place, data, model, *flags):
    """Trains, and returns the share of the time that the device waited, in
    percent, by all who say it."""
    steps, loop = (12, 4) if place.short else (120, 20)
    place.run("train_resnet", f"--data_dir={data}", f"--model_dir={model}",
              "--mode=train", "--params_override=model=lenet,image_size=28,"
              "precision=float32,recipe=plain,base_learning_rate=0.01,"
              f"train_steps={steps},iterations_per_loop={loop},"
              f"train_batch_size={BATCH}", *flags)
    end = place.events(model, "end")[-1]
    loops = [line["input_wait"] for line in place.events(model, "loop")]
    board = [value for _, value in
             event_files.scalars(place.out / model, "input_wait")]
    page = (place.out / model / "report.html").read_text("utf-8")
    place.check(f"{model}: input wait in TensorBoard, and in the report",
                len(board) == len(loops) and
                all(abs(a - b) < 1e-6 for a, b in zip(board, loops)) and
                "of the time waiting for input" in page,
                ", ".join(f"{100 * value:.1f} %" for value in board))
    return 100 * end["input_wait"], end["images_per_second"]


def show(place, waits):
    names = list(waits)
    theirs = {names[0]: "95 %", names[-1]: "0.5 %"}
    rows = [("input", "images/s", "input wait", "the guide")]
    rows += [(name, f"{rate:.0f}", f"{wait:.1f} %", theirs.get(name, ""))
             for name, (wait, rate) in waits.items()]
    place.show("", "Basic against optimised input, LeNet at 28 pixels:", "")
    place.table(*rows)
    place.plot("input-wait.svg", charts.bars(
        "The device waits for its input", "%",
        {name: wait for name, (wait, _) in waits.items()}))
    basic, best = waits[names[0]], waits[names[-1]]
    place.check("the device waits for the basic input, less for the optimised",
                basic[0] > best[0] and (place.short or basic[0] > 50),
                f"{basic[0]:.1f} % and {best[0]:.1f} %")
