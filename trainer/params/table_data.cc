#include "trainer/params/ranges.h"

namespace infeed {
namespace {

using P = TrainParams;

const Param kTable[] = {
    {"num_train_images", &P::num_train_images, Between(0, kMaxImages), "images",
     "Images of an epoch, for steps and learning rate.",
     "as many as the data has"},
    {"num_eval_images", &P::num_eval_images, Between(0, kMaxImages), "images",
     "Images of the evaluation that are used.", "as many as the data has"},
    {"eval_split", &P::eval_split, OneOf("auto|train|validation|test"), "",
     "Split to evaluate; auto: validation where there is one, else test.", ""},
    {"allow_missing_shards", &P::allow_missing_shards, Any(), "",
     "Go on where shards of the data set are missing, and say how many images "
     "are not there; otherwise they end the run.",
     ""},
    {"train_batch_size", &P::train_batch_size, Between(0, 1 << 20), "images",
     "Training images per step, of all ranks together.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"eval_batch_size", &P::eval_batch_size, Between(0, 1 << 20), "images",
     "Evaluation images per step; a batch larger than the split becomes the "
     "whole split.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"last_batch", &P::last_batch, OneOf("auto|drop|pad|repeat"), "",
     "Treatment of the images of an epoch that do not fill a batch: drop them "
     "(auto), make a smaller batch (pad), or fill it up from the epoch's "
     "beginning (repeat).",
     ""},
    {"image_size", &P::image_size, Between(8, 4096), "pixels",
     "Side of the model's input.", ""},
    {"image_size_schedule", &P::image_size_schedule, Any(), "",
     "Smaller training images at first: 'EPOCH:SIZE,...', as '0:160,8:192'; "
     "evaluation uses image_size.",
     "image_size all the time"},
    {"normalization", &P::normalization, OneOf("imagenet|unit"), "",
     "Scaling of pixels on the device: ImageNet's mean and standard deviation, "
     "or division by 255.",
     ""},
    {"recipe", &P::recipe, OneOf("tpu|torchvision|plain|cifar"), "",
     "Preprocessing: the reference's random crop and flip, torchvision's, the "
     "whole image resized, or CIFAR's shifts.",
     ""},
    {"interpolation", &P::interpolation,
     OneOf("recipe|bicubic|bilinear|antialias"), "",
     "Kernel that resizes crop windows; recipe: the recipe's own.", ""},
    {"random_flip", &P::random_flip, Any(), "",
     "Mirror training images at random in recipes that do so; give false for "
     "digits and letters.",
     ""},
    {"scaled_decode", &P::scaled_decode, Any(), "",
     "Decode a training JPEG to 1/2, 1/4 or 1/8 of its size where its crop is "
     "that much larger than image_size: faster, other pixels.",
     ""},
    {"augment_name", &P::augment_name, OneOf("none|autoaugment|randaugment"),
     "", "Augmentation of training images beyond crop and flip.", ""},
    {"randaug_num_layers", &P::randaug_num_layers, Between(1, 16), "operations",
     "Operations that randaugment applies to an image.", ""},
    {"randaug_magnitude", &P::randaug_magnitude, Between(0, 30), "",
     "Strength of randaugment's operations.", ""},
    {"random_erasing", &P::random_erasing, Between(0, 1), "",
     "Probability that a rectangle of a training image is erased.", ""},
    {"mixup_alpha", &P::mixup_alpha, NotNegative(), "",
     "MixUp on the device: blend pairs of images; 0: none.", ""},
    {"cutmix_alpha", &P::cutmix_alpha, NotNegative(), "",
     "CutMix on the device: take a rectangle from another image; 0: none. With "
     "mixup_alpha, each batch gets one of the two.",
     ""},
    {"shuffle", &P::shuffle, OneOf("global|window|reference|torch|none"), "",
     "Order of the training images: a permutation of all, of neighbours in "
     "interleaved shards, the reference's shuffling, PyTorch's randperm, or "
     "their order in the shards.",
     ""},
    {"window_shards", &P::window_shards, Between(1, 1 << 24), "shards",
     "Shards that shuffle=window interleaves at once.", ""},
    {"window_records", &P::window_records, Between(1, 1 << 24), "records",
     "Records that shuffle=window shuffles among each other.", ""},
    {"rank_share", &P::rank_share, OneOf("contiguous|strided|strided_drop"), "",
     "Images of a training batch that a rank takes: a stretch of them, or "
     "every world_size-th, as PyTorch's DistributedSampler. Strided ranks fill "
     "an epoch up from its beginning until they share it evenly, or cut it "
     "(strided_drop).",
     ""},
    {"seed", &P::seed, Between(0, 0x1p64), "",
     "Seed of order, crops, flips and initial weights.", ""},
    {"on_bad_record", &P::on_bad_record, OneOf("fail|replace|skip"), "",
     "Policy for a training record that cannot be read: end the run, take "
     "another in its place, or leave its place empty.",
     ""},
    {"max_bad_records", &P::max_bad_records, Between(-1, kMaxImages), "records",
     "End the run after this many different bad records, of all ranks; -1: "
     "never.",
     ""},
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
