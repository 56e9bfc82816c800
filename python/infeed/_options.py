"""The engine's options as types; python/module/make_options.py writes this file."""

from __future__ import annotations

from typing import Literal, TypedDict


class Stream(TypedDict, total=False):
    """Options of the group Stream."""

    # Order of the images: that of the records (none), a permutation of all
    # (global), of neighbours in interleaved shards (window), PyTorch's
    # randperm (torch), or auto: global in training, else none. Default: auto.
    shuffle: Literal["auto", "none", "global", "window", "torch"]

    # Shards that shuffle=window interleaves at once. At least 1, at most
    # 16777216 shards. Default: 16.
    window_shards: int

    # Records that shuffle=window shuffles among each other. At least 1, at
    # most 16777216 records. Default: 4096.
    window_records: int

    # Repeated augmentation: use each training image so many times in a row,
    # with other crops and flips, and as many fewer images in an epoch;
    # torchvision's ra_reps. At least 1, at most 1024 times. Default: 1.
    repeat_augment: int

    # Seed of the order and of all random choices. At least 0, at most 2^64 -
    # 1. Default: 0.
    seed: int

    # Treatment of the images of an epoch that do not fill a batch: drop them,
    # pad the batch with empty slots, repeat images from the epoch's
    # beginning, carry them into a batch with the next epoch's first images,
    # or auto: drop in training, else pad. Default: auto.
    last_batch: Literal["auto", "drop", "pad", "repeat", "carry"]

    # Images of a training batch that a rank takes: one contiguous part, or
    # every world_size-th image, like PyTorch's DistributedSampler. An epoch
    # that strided ranks cannot share evenly is padded from its beginning
    # (strided) or cut (strided_drop). Default: contiguous.
    rank_share: Literal["contiguous", "strided", "strided_drop"]

    # Key of the encoded image in the records, or of tars the ending of the
    # image's member, such as png; found if it is another. Default:
    # image/encoded.
    image_key: str

    # Key of the label in the records; found if it is another, such as the
    # label of TFDS. Default: image/class/label.
    label_key: str

    # Label of the first class in the records; auto: the one in dataset.json
    # or of the format, else 0 if a label 0 occurs in any split, else 1.
    # Default: auto.
    label_offset: Literal["auto", "0", "1"]

    # Number of classes; records with other labels are bad. At least 0, at
    # most 2147483647 classes. Default: any label is used.
    num_label_classes: int

    # Use only the first records of the data set. At least 0, at most
    # 9223372036854775808 records. Default: all.
    max_records: int

    # Fingerprint of the input: of records, labels, crops and all random
    # choices (records), or of the pixels, too (pixels). Default: records.
    input_hash: Literal["records", "pixels"]


class Images(TypedDict, total=False):
    """Options of the group Images."""

    # Size of an image: the side of a square, or height x width, such as
    # 224x320. At least 1, at most 16384 pixels. Default: 224.
    image_size: int | tuple[int, int] | str

    # Preprocessing: the reference's random crop and flip, torchvision's, the
    # whole image resized, CIFAR's shifts, or the whole image in its own
    # shape, with margins. Default: tpu.
    recipe: Literal["tpu", "torchvision", "plain", "cifar", "fit"]

    # Kernel that resizes crop windows; recipe: the recipe's own;
    # antialias_random: antialias or antialias_bicubic by chance. Default:
    # recipe.
    interpolation: Literal[
        "recipe", "bicubic", "bilinear", "antialias", "antialias_bicubic",
        "antialias_random"]

    # Mirror training images at random in recipes that do so; give false for
    # digits and letters. Default: true.
    random_flip: bool

    # Turn training images upside down at random, half of them. Default:
    # false.
    random_flip_vertical: bool

    # Smallest random crop of recipe torchvision, as a part of the image's
    # area. At least 0, at most 1. Default: 0.08.
    crop_scale: float | tuple[float, float]

    # Largest random crop of recipe torchvision, as a part of the image's
    # area; at least crop_scale. At least 0, at most 1. Default: 1.
    crop_scale_max: float

    # Largest ratio of a random crop's sides in recipe torchvision. At least
    # 0, at most 100. Default: 4/3.
    crop_ratio: float

    # Shorter side to which an evaluation resizes an image, before image_size
    # is cut out of its centre. At least 0, at most 32768 pixels. Default:
    # image_size * 256 / 224.
    eval_resize: int

    # Fraction image_size / eval_resize, to be given in place of eval_resize;
    # timm's crop_pct. At least 0, at most 1. Default: 0.875.
    eval_crop: float

    # Gray level of recipe fit's margins. At least 0, at most 255. Default:
    # 114.
    fit_fill: int

    # Place of recipe fit's margins: around the image, or at the right and
    # below. Default: middle.
    fit_margin: Literal["middle", "end"]

    # scale_jitter_min and scale_jitter_max.
    scale_jitter: tuple[float, float]

    # Least factor of recipe fit's random scale in training; 1: the size at
    # which the image just fits. At least 0, at most 10. Default: none.
    scale_jitter_min: float

    # Largest factor of this scale; a larger image is cut at random. At least
    # 0, at most 10. Default: none.
    scale_jitter_max: float

    # Crop training images of recipes plain and fit at random so that the crop
    # overlaps one of their boxes enough: torchvision's RandomIoUCrop. Needs
    # objects. Default: false.
    iou_crop: bool

    # Decode a training JPEG at 1/2, 1/4 or 1/8 of its size if its crop is
    # that much larger than image_size: faster, but the pixels differ.
    # Default: false.
    scaled_decode: bool

    # Augmentation of training images beyond crop and flip. Default: none.
    augment: Literal[
        "none", "randaugment", "autoaugment", "trivialaugment",
        "torchvision_randaugment", "timm_randaugment"]

    # Operations that each randaugment applies to an image. At least 1, at
    # most 16 operations. Default: 2.
    augment_layers: int

    # Strength of each randaugment's operations; timm_randaugment's is at most
    # 10. At least 0, at most 30. Default: 10.
    augment_magnitude: int

    # Standard deviation of timm_randaugment's magnitude. At least 0, at most
    # 10. Default: 0.
    augment_magnitude_std: float

    # Filter by which trivialaugment and torchvision_randaugment move pixels:
    # nearest, torchvision's default, bilinear, as its training scripts, or
    # bicubic. Default: nearest.
    augment_interpolation: Literal["nearest", "bilinear", "bicubic"]

    # Colour jitter: a factor for the brightness of each training image is
    # drawn from 1 - x to 1 + x; 0: none. At least 0. Default: 0.
    brightness: float

    # Colour jitter: the same for the contrast. At least 0. Default: 0.
    contrast: float

    # Colour jitter: the same for the saturation. At least 0. Default: 0.
    saturation: float

    # Colour jitter: the hue of each training image is turned by -x to x of
    # the colour circle; 0: none. At least 0, at most 0.5. Default: 0.
    hue: float

    # Colour jitter: the probability that a training image gets it. At least
    # 0, at most 1. Default: 1.
    jitter_probability: float

    # Probability that a training image becomes gray. At least 0, at most 1.
    # Default: 0.
    grayscale: float

    # Probability that a training image is blurred, by a Gaussian of 0.1 to 2
    # pixels. At least 0, at most 1. Default: 0.
    blur: float

    # Probability that a training image is solarized: levels from 128 are
    # inverted. At least 0, at most 1. Default: 0.
    solarize: float

    # Probability that a rectangle of a training image is erased. At least 0,
    # at most 1. Default: 0.
    random_erasing: float

    # Content of erased rectangles: black, ImageNet's mean colour, or noise
    # for each pixel. Default: constant.
    erasing_mode: Literal["constant", "mean", "pixel"]


class BadRecords(TypedDict, total=False):
    """Options of the group Bad records."""

    # Policy for a record that cannot be read: end the run (fail), use another
    # record (replace), leave its slot empty (skip), or auto: replace in
    # training, else skip. Default: auto.
    on_bad_record: Literal["auto", "fail", "replace", "skip"]

    # End the run after this many different bad records, of all ranks; -1:
    # never. At least -1, at most 9223372036854775808 records. Default: -1.
    max_bad_records: int

    # End the run when more than this fraction of the samples is bad. At least
    # 0, at most 1. Default: 1.
    max_bad_rate: float

    # File that lists every bad record, one JSON object a line. Default: no
    # file.
    bad_record_report: str

    # A record without a label is bad, or has the label -1 in its batch.
    # Default: true.
    require_labels: bool

    # Use JPEGs that libjpeg only warns about, and count them. Default: false.
    lenient: bool

    # Maximum size of an image; a larger one is a bad record. At least 1, at
    # most 9223372036854775808 pixels. Default: 178956970.
    max_pixels: int

    # Size of a record's fields without a shape, together; a larger one is a
    # bad record. At least 1, at most 1GiB bytes. Default: 4096.
    max_field_bytes: int | str


class Performance(TypedDict, total=False):
    """Options of the group Performance."""

    # Schedule of the input: overlapped in all threads (flow), or one record
    # after the other (basic), to show the effect of a slow input. Default:
    # flow.
    graph: Literal["flow", "basic"]

    # Threads of the input pipeline. At least 0, at most 1024 threads.
    # Default: one for each core.
    threads: int

    # Batches in memory: being filled, waiting or in use. At least 2, at most
    # 1024 batches. Default: 3.
    batches_in_pool: int

    # Batches of the pool that the consumer may hold at once before it gets
    # copies; 0: it gets no copies, and must return batches. At least 0, at
    # most 1023 batches. Default: 0.
    max_lent: int

    # Batches beyond those in the pool whose records are read in advance. At
    # least 0, at most 1024 batches. Default: 2.
    prefetch_batches: int

    # Verify the checksum of every record. Default: true.
    verify_checksums: bool

    # Use records where they lie in the page cache, without a copy, if all
    # shards fit into half of the memory; false: read them. Default: true.
    map_files: bool

    # Seek indexes, with which only a part of a JPEG is decoded: use those of
    # the data and find others while decoding, for later epochs and runs
    # (auto), use those of the data (read), or none (off). Default: auto.
    seek_index: Literal["auto", "read", "off"]

    # Keep encoded records in memory, as far as memory_limit allows. Default:
    # false.
    use_cache: bool

    # Memory that the input may use, checked at the start: as 4GiB, 512MB, or
    # as 50% of the memory of the machine or control group. At least 1, at
    # most 1048576TiB bytes. Default: 4GiB.
    memory_limit: int | str

    # Ranks on this machine, which share the memory limit. At least 1, at most
    # 1048576 ranks. Default: 1.
    local_world_size: int

    # Programs input_worker on other machines, which make batches beside the
    # threads here, as HOST:PORT, dns:///NAME:PORT (all addresses of the name)
    # or @FILE (one a line), separated by commas. Default: none.
    workers: str | list[str] | tuple[str, ...]

    # Ranges of up to 16 images that all workers have at once; more need
    # memory, and hide a longer way to the workers. At least 0, at most 4096
    # ranges. Default: what the pool holds, at most 32.
    workers_in_flight: int

    # Make one of so many ranges of the workers here, too, and compare: a
    # worker that differs is not used any more; 0: only the first range of
    # each worker. At least 0, at most 9223372036854775808 ranges. Default:
    # 1000.
    workers_check: int


class Options(Stream, Images, BadRecords, Performance):
    """Options of Loader beside its own arguments."""
