"""How much the lives of a training do on a card, and on a CPU."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Scale:
    """Steps, and parameters of every training."""
    device: str
    parameters: dict
    streamed: dict      # of trainings from JPEGs
    resident: dict      # of trainings from images in the device's memory
    images: tuple       # of training and validation
    packed: int         # side of the packed images
    steps: int
    loop: int
    eval: int
    checkpoint: int
    kill: int           # where the first of three lives is killed
    stop: int           # where the second one is stopped
    resumed: int        # where the third one ends
    first_loop: int     # most steps of its first loop
    short: int          # steps of short trainings
    short_loop: int
    top_1: float        # least accuracy at the end of the day
    captures: int       # at most so many loops of the day capture graphs
    evaluations: int    # during which memory is watched
    steps_of_each: int  # between two of them


KEEP = 5

# The table of a loop's inputs has room for 1,024 steps at first, the ring of
# results and that of events for 4,096: loops of 5,000 go beyond all. At step
# 5,520, the end of an epoch, the image size changes. A stop at step 5,200
# leaves a loop of 300 steps before the next evaluation, and then one of 5,000.
CARD = Scale(
    device="cuda",
    parameters={
        "resnet_depth": 18, "precision": "bfloat16", "cuda_graph": "required",
        "deterministic": "true", "train_batch_size": 64, "memory_limit": "25%",
        "base_learning_rate": 0.1},
    streamed={"image_size": 48, "image_size_schedule": "0:32,120:48"},
    resident={"image_size": 32, "data_on_device": "true"},
    images=(2944, 500), packed=32, steps=16500, loop=5000, eval=5500,
    checkpoint=500, kill=5150, stop=5200, resumed=11000, first_loop=300,
    short=300, short_loop=10, top_1=0.8, captures=2, evaluations=60,
    steps_of_each=50)

CPU = Scale(
    device="cpu",
    parameters={
        "model": "lenet", "image_size": 28, "precision": "float32",
        "train_batch_size": 16, "memory_limit": "512MiB",
        "num_parallel_calls": 2, "base_learning_rate": 0.2},
    streamed={}, resident={"data_on_device": "true"},
    images=(600, 100), packed=28, steps=1125, loop=250, eval=375,
    checkpoint=25, kill=255, stop=260, resumed=750, first_loop=120, short=50,
    short_loop=10, top_1=0.3, captures=0, evaluations=30,
    steps_of_each=5)

# On a CPU sizes of images change in a training of its own, since LeNet has one.
CPU_SIZES = {
    "model": "resnet", "resnet_depth": 18, "image_size": 48,
    "image_size_schedule": "0:32,1:48", "train_batch_size": 8,
    "iterations_per_loop": 2, "steps_per_checkpoint": 1, "steps_per_eval": 6,
    "train_steps": 12, "moving_average_decay": 0}
CPU_SIZES_IMAGES = (40, 10)
