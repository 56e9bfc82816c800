"""Random options of the input and of trainings: those that may not change the
batches or the weights do not, nor does a resume, nor the number of ranks."""

import shutil

import trees

SHORT_CASES = 6
BATCHES = 6


def stream_options(random):
    """Options that decide which bytes a stream has."""
    words = ["--seed", random.choice([0, 1, 7, 1 << 40]),
             "--batch_size", random.choice([4, 12, 24]),
             "--image_size", random.choice(["16", "24x32"]),
             "--recipe", random.choice(["tpu", "torchvision", "plain",
                                        "cifar", "fit"]),
             "--layout", random.choice(["words", "rgb"]),
             "--shuffle", random.choice(["none", "global", "window", "torch"])]
    for more in [["--augment", random.choice(["randaugment", "autoaugment",
                                              "trivialaugment"])],
                 ["--interpolation", random.choice(["antialias", "bilinear"])],
                 ["--repeat_augment", 2], ["--random_erasing", "0.5"],
                 ["--random_flip_vertical"], ["--blur", "0.5"],
                 ["--brightness", "0.4", "--hue", "0.1"],
                 ["--contrast", "0.4", "--jitter_probability", "0.5"],
                 ["--solarize", "0.5"],
                 ["--class_weights", "balanced"], ["--epoch_records", 40],
                 ["--max_records", 30], ["--scaled_decode"],
                 ["--last_batch", random.choice(["drop", "repeat", "carry",
                                                 "pad"])]]:
        if random.random() < 0.2:
            words += more
    return words


def free_options(random):
    """Options that decide how fast it has them."""
    words = ["--threads", random.choice([1, 2, 5]),
             "--graph", random.choice(["flow", "basic"]),
             "--batches_in_pool", random.choice([2, 3, 6]),
             "--prefetch_batches", random.choice([0, 1, 4]),
             "--seek_index", random.choice(["auto", "read", "off"]),
             "--memory_limit", random.choice(["256MB", "2GiB"])]
    for more in [["--use_cache"], ["--no_map_files"],
                 ["--no_verify_checksums"]]:
        if random.random() < 0.4:
            words += more
    return words


def hashed(case, *words):
    ended = case.run("pipeline_throughput", "--data_dir", case.inputs.data,
                     *words)
    return ended.code, ended.output.split()


def check_speed_options(case, stream):
    drawn = [hashed(case, "--hash", BATCHES, *stream,
                    *free_options(case.random)) for _ in range(3)]
    case.expect(all(one == drawn[0] for one in drawn),
                f"options of speed changed the batches: {drawn}")
    return drawn[0][0] == 0


def check_resume(case, stream):
    """The batches after a state are the same, however they are made."""
    state = case.work / "state.json"
    hashed(case, "--hash", case.random.randrange(1, BATCHES), *stream,
           "--save_state", state)
    drawn = [hashed(case, "--hash", 3, *stream, "--restore", state,
                    *free_options(case.random)) for _ in range(2)]
    case.expect(drawn[0] == drawn[1],
                f"a resume has other batches: {drawn}")


def orders(case, stream, rank, world_size):
    """The record numbers of each batch of one rank."""
    ended = case.run("pipeline_throughput", "--data_dir", case.inputs.data,
                     "--order", BATCHES, *stream, "--rank", rank,
                     "--world_size", world_size)
    return [line.split() for line in ended.output.splitlines()]


def check_ranks(case, stream):
    world_size = case.random.choice([2, 4])
    whole = orders(case, stream, 0, 1)
    parts = [orders(case, stream, rank, world_size)
             for rank in range(world_size)]
    joined = [[record for part in batch for record in part]
              for batch in zip(*parts)]
    case.expect(joined == whole, f"{world_size} ranks: {joined} != {whole}")


def training_params(random):
    params = {"optimizer": random.choice(["momentum", "adamw", "lars",
                                          "rmsprop"]),
              "seed": random.choice([0, 5]),
              "label_smoothing": random.choice([0, 0.1]),
              "recipe": random.choice(["plain", "torchvision"]),
              "model": random.choice(["lenet", "resnet18"]),
              "moving_average_decay": random.choice([0, 0.9]),
              "mixup_alpha": random.choice([0, 0.2])}
    return ",".join(f"{name}={value}" for name, value in params.items())


def free_params(random):
    return (f"num_parallel_calls={random.choice([1, 2])},"
            f"batches_in_pool={random.choice([4, 6])},"
            f"iterations_per_loop={random.choice([1, 2, 4])},"
            f"steps_per_checkpoint={random.choice([2, 4])}")


def weights_after(case, params, model):
    ended = case.run("train_resnet",
                     *case.inputs.training(case.inputs.data, model, 4),
                     f"--params_override={params},{free_params(case.random)}")
    return ended.code, trees.fingerprint(model / "checkpoint-00000004").get(
        "model.safetensors")


def check_training(case):
    """Options of speed, and a resume from an earlier checkpoint, give the same
    weights."""
    params = training_params(case.random)
    models = [case.work / name for name in ("first", "second")]
    first, second = (weights_after(case, params, model) for model in models)
    case.expect(first == second, f"other weights: {first} {second}")
    if first[0] == 0 and (models[0] / "checkpoint-00000002").exists():
        shutil.rmtree(models[0] / "checkpoint-00000004")
        resumed = weights_after(case, params, models[0])
        case.expect(resumed == first, f"resumed: {resumed} {first}")


def check_stream(case):
    stream = stream_options(case.random)
    if check_speed_options(case, stream):
        check_resume(case, stream)
        check_ranks(case, stream)


def run(case):
    case.protect(case.inputs.data)
    case.pick([check_stream, check_stream, check_training])
