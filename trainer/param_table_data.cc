#include "trainer/param_ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"num_train_images", &P::num_train_images, Between(0, kMaxImages), "images",
     "What an epoch is, for steps and learning rate.",
     "as many as the data has"},
    {"num_eval_images", &P::num_eval_images, Between(0, kMaxImages), "images",
     "How many of the evaluation's images are used.",
     "as many as the data has"},
    {"eval_split", &P::eval_split, OneOf("auto|train|validation|test"), "",
     "What is evaluated; auto: validation where there is one, else test.", ""},
    {"train_batch_size", &P::train_batch_size, Between(0, 1 << 20), "images",
     "Global batch of training.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"eval_batch_size", &P::eval_batch_size, Between(0, 1 << 20), "images",
     "Batch of evaluation; a larger one than the set is the whole set.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"last_batch", &P::last_batch, OneOf("auto|drop|pad|repeat"), "",
     "What becomes of the images of an epoch that do not fill a batch: they "
     "are dropped (auto), make a smaller one, or one filled up again from the "
     "epoch's beginning.",
     ""},
    {"image_size", &P::image_size, Between(8, 4096), "pixels",
     "Side of the model's input.", ""},
    {"image_size_schedule", &P::image_size_schedule, Any(), "",
     "Smaller training images at first: 'EPOCH:SIZE,...', as '0:160,8:192'; "
     "evaluation has image_size.",
     "image_size all the time"},
    {"normalization", &P::normalization, OneOf("imagenet|unit"), "",
     "What the device makes of pixels: less ImageNet's mean, by its standard "
     "deviation; or divided by 255.",
     ""},
    {"recipe", &P::recipe, OneOf("tpu|torchvision|plain|cifar"), "",
     "How images become input: the reference's random crop and flip, "
     "torchvision's, the whole image resized, or CIFAR's shifts.",
     ""},
    {"interpolation", &P::interpolation,
     OneOf("recipe|bicubic|bilinear|antialias"), "",
     "How windows are resized: as the recipe does, or otherwise.", ""},
    {"random_flip", &P::random_flip, Any(), "",
     "Whether training images are mirrored, by the recipes that do so; false "
     "for digits and letters.",
     ""},
    {"scaled_decode", &P::scaled_decode, Any(), "",
     "Decode a training JPEG to 1/2, 1/4 or 1/8 of its size where its crop is "
     "that much larger than image_size: faster, other pixels.",
     ""},
    {"augment_name", &P::augment_name, OneOf("none|autoaugment|randaugment"),
     "", "What is done to training images beside crop and flip.", ""},
    {"randaug_num_layers", &P::randaug_num_layers, Between(1, 16), "operations",
     "How many randaugment applies to an image.", ""},
    {"randaug_magnitude", &P::randaug_magnitude, Between(0, 30), "",
     "How strong randaugment's operations are.", ""},
    {"random_erasing", &P::random_erasing, Between(0, 1), "",
     "Probability that a rectangle of a training image is erased.", ""},
    {"mixup_alpha", &P::mixup_alpha, NotNegative(), "",
     "Of MixUp on the device's batch: pairs of images are blended; 0: none.",
     ""},
    {"cutmix_alpha", &P::cutmix_alpha, NotNegative(), "",
     "Of CutMix: a rectangle comes from another image. With both, each batch "
     "has one of them.",
     ""},
    {"shuffle", &P::shuffle, OneOf("global|window|reference|torch|none"), "",
     "Order of the training images: a permutation of all, of neighbours in "
     "interleaved shards, as the reference shuffles, PyTorch's randperm, or "
     "their own.",
     ""},
    {"window_shards", &P::window_shards, Between(1, 1 << 24), "shards",
     "How many shuffle=window interleaves at once.", ""},
    {"window_records", &P::window_records, Between(1, 1 << 24), "records",
     "How many it shuffles among each other.", ""},
    {"rank_share", &P::rank_share, OneOf("contiguous|strided|strided_drop"), "",
     "Which images of a training batch are a rank's: a stretch of them, or "
     "every world_size-th, as PyTorch's DistributedSampler has it. Strided "
     "ranks fill an epoch up from its beginning until they share it evenly, "
     "or cut it (drop_last).",
     ""},
    {"seed", &P::seed, Between(0, 0x1p64), "",
     "Of order, crops, flips and initial weights.", ""},
    {"on_bad_record", &P::on_bad_record, OneOf("fail|replace|skip"), "",
     "What becomes of a training record that cannot be read: end the run, "
     "take another in its place, leave its place empty.",
     ""},
    {"max_bad_records", &P::max_bad_records, Between(-1, kMaxImages), "records",
     "End the run after so many different bad ones; -1: never.", ""},
    {"max_bad_rate", &P::max_bad_rate, Between(0, 1), "",
     "End the run when more than this share of the samples is bad.", ""},
    {"bad_record_report", &P::bad_record_report, Any(), "",
     "File that lists every bad record, one JSON object a line.", "no file"},
    {"lenient", &P::lenient, Any(), "",
     "Use JPEGs that libjpeg only warns about, and count them.", ""},
};

}  // namespace

std::span<const Param> DataParams() { return kTable; }

}  // namespace infeed
