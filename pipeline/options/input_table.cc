#include "pipeline/options/input_table.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "pipeline/options/option_text.h"

namespace infeed {
namespace {

using I = InputOptions;
using P = PreprocessOptions;
using A = AugmentOptions;
using C = CropOptions;
using F = FitOptions;

constexpr double kMost32 = 0x1p31 - 1;
constexpr double kMost64 = 0x1p63;
constexpr double kMostEpochs = 0x1p32 - 1;
constexpr double kMostBatch = 1 << 20;
constexpr double kMostPool = 1 << 10;
constexpr double kMostRanges = 1 << 12;
constexpr double kMostThreads = 1 << 10;
constexpr double kMostWindow = 1 << 24;

// Columns that every row must have: a row without them does not compile.
enum class Stream { kOfStream, kOfStreamIfSet, kNotOfStream };
enum class Evaluation { kInherited, kOwn };
using enum Stream;
using enum Evaluation;

constexpr InputOption Row(std::string_view name, Stream stream,
                          Evaluation evaluation, OptionField<I> field,
                          OptionRange range, std::string_view unit,
                          std::string_view help,
                          std::string_view when_not_given = {}) {
  return {{.name = name,
           .choices = field.choices,
           .range = range,
           .unit = unit,
           .help = help,
           .when_not_given = when_not_given},
          field.at,
          stream != kNotOfStream,
          stream == kOfStreamIfSet,
          evaluation == kInherited};
}

// Marks a row whose flag --help shows.
constexpr InputOption Common(InputOption row) {
  row.is_common = true;
  return row;
}

constexpr std::string_view kRandAugments =
    "randaugment|torchvision_randaugment|timm_randaugment";

constexpr InputOption kStream[] = {
    Common(Row("batch_size", kOfStream, kOwn, Field<&I::batch_size>(),
               Between(1, kMostBatch), "images",
               "Images of a batch, of all ranks together.")),
    Common(Row("training", kOfStream, kOwn, Field<&I::training>(), Any(), "",
               "Random crops and endless epochs, or one epoch without anything "
               "random.")),
    Row("repeat", kNotOfStream, kOwn, Field<&I::repeat>(),
        Between(0, kMostEpochs), "epochs",
        "Number of epochs; 0: endless in training, one in evaluation."),
    Row("shuffle", kOfStream, kOwn, ChoiceField<kShuffles, &I::shuffle>(),
        Any(), "",
        "Order of the images: that of the records (none), a permutation of all "
        "(global), of neighbours in interleaved shards (window), "
        "PyTorch's randperm (torch), or auto: global in training, else none."),
    Row("window_shards", kOfStream, kOwn, Field<&I::window_shards>(),
        Between(1, kMostWindow), "shards",
        "Shards that shuffle=window interleaves at once.")
        .Needs("shuffle", "window"),
    Row("window_records", kOfStream, kOwn, Field<&I::window_records>(),
        Between(1, kMostWindow), "records",
        "Records that shuffle=window shuffles among each other.")
        .Needs("shuffle", "window"),
    Row("repeat_augment", kOfStream, kOwn, Field<&I::repeat_augment>(),
        Between(1, 1024), "times",
        "Repeated augmentation: use each training image so many times in a "
        "row, with other crops and flips, and as many fewer images in an "
        "epoch; torchvision's ra_reps."),
    Row("seed", kOfStream, kInherited, Field<&I::seed>(), Between(0, 0x1p64),
        "", "Seed of the order and of all random choices."),
    Row("last_batch", kOfStream, kOwn,
        ChoiceField<kLastBatches, &I::last_batch>(), Any(), "",
        "Treatment of the images of an epoch that do not fill a batch: drop "
        "them, pad the batch with empty slots, repeat images from the epoch's "
        "beginning, carry them into a batch with the next epoch's first "
        "images, or auto: drop in training, else pad."),
    Row("rank", kNotOfStream, kOwn, Field<&I::rank>(), Between(0, kMostBatch),
        "", "Number of this process, which decides its part of each batch."),
    Row("world_size", kNotOfStream, kOwn, Field<&I::world_size>(),
        Between(1, kMostBatch), "processes", "Processes that share a batch."),
    Row("rank_share", kOfStream, kOwn,
        ChoiceField<kRankShares, &I::rank_share>(), Any(), "",
        "Images of a training batch that a rank takes: one contiguous part, "
        "or every world_size-th image, like PyTorch's DistributedSampler. An "
        "epoch that strided ranks cannot share evenly is padded from its "
        "beginning (strided) or cut (strided_drop)."),
    Row("image_key", kOfStream, kInherited, Field<&I::image_key>(), Any(), "",
        "Key of the encoded image in the records, or of tars the ending of the "
        "image's member, such as png; found if it is another."),
    Row("label_key", kOfStream, kInherited, Field<&I::label_key>(), Any(), "",
        "Key of the label in the records; found if it is another, such as the "
        "label of TFDS."),
    Row("label_offset", kOfStream, kInherited,
        ChoiceField<kLabelOffsets, &I::label_offset>(), Any(), "",
        "Label of the first class in the records; auto: the one in "
        "dataset.json "
        "or of the format, else 0 if a label 0 occurs in any split, else 1."),
    Row("num_label_classes", kNotOfStream, kInherited,
        Field<&I::num_label_classes>(), Between(0, kMost32), "classes",
        "Number of classes; records with other labels are bad.",
        "any label is used"),
    Row("max_records", kOfStream, kOwn, Field<&I::max_records>(),
        Between(0, kMost64), "records",
        "Use only the first records of the data set.", "all"),
    Row("input_hash", kNotOfStream, kOwn,
        ChoiceField<kInputHashes, &I::input_hash>(), Any(), "",
        "Fingerprint of the input: of records, labels, crops and all random "
        "choices (records), or of the pixels, too (pixels)."),
};

constexpr InputOption kImages[] = {
    Common(Row("image_size", kOfStream, kInherited,
               Field<&I::preprocess, &P::image_size>(), Between(1, 1 << 14),
               "pixels",
               "Size of an image: the side of a square, or height x width, "
               "such as 224x320.")),
    Row("layout", kNotOfStream, kOwn, ChoiceField<kLayouts, &I::layout>(),
        Any(), "",
        "Pixels of a batch: 32-bit words, R << 24 | G << 16 | B << 8, RGB "
        "bytes, or none: records need no images."),
    Common(Row(
        "recipe", kOfStream, kInherited,
        ChoiceField<kRecipes, &I::preprocess, &P::recipe>(), Any(), "",
        "Preprocessing: the reference's random crop and flip, torchvision's, "
        "the whole image resized, CIFAR's shifts, or the whole image in its "
        "own shape, with margins.")),
    Row("interpolation", kOfStream, kInherited,
        ChoiceField<kInterpolations, &I::preprocess, &P::interpolation>(),
        Any(), "",
        "Kernel that resizes crop windows; recipe: the recipe's own; "
        "antialias_random: antialias or antialias_bicubic by chance."),
    Row("random_flip", kOfStream, kOwn,
        Field<&I::preprocess, &P::random_flip>(), Any(), "",
        "Mirror training images at random in recipes that do so; give false "
        "for digits and letters."),
    Row("random_flip_vertical", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::vertical_flip>(), Any(), "",
        "Turn training images upside down at random, half of them."),
    Row("crop_scale", kOfStream, kInherited,
        Field<&I::preprocess, &P::crop, &C::scale>(), Between(0, 1), "",
        "Smallest random crop of recipe torchvision, as a part of the image's "
        "area.",
        "0.08"),
    Row("crop_scale_max", kOfStreamIfSet, kInherited,
        Field<&I::preprocess, &P::crop, &C::max_scale>(), Between(0, 1), "",
        "Largest random crop of recipe torchvision, as a part of the image's "
        "area; at least crop_scale."),
    Row("crop_ratio", kOfStream, kInherited,
        Field<&I::preprocess, &P::crop, &C::ratio>(), Between(0, 100), "",
        "Largest ratio of a random crop's sides in recipe torchvision.", "4/3"),
    Row("eval_resize", kOfStream, kInherited,
        Field<&I::preprocess, &P::crop, &C::eval_resize>(), Between(0, 1 << 15),
        "pixels",
        "Shorter side to which an evaluation resizes an image, before "
        "image_size is cut out of its centre.",
        "image_size * 256 / 224"),
    Row("eval_crop", kOfStream, kInherited,
        Field<&I::preprocess, &P::crop, &C::eval_crop>(), Between(0, 1), "",
        "Fraction image_size / eval_resize, to be given in place of "
        "eval_resize; timm's crop_pct.",
        "0.875"),
    Row("fit_fill", kOfStreamIfSet, kInherited,
        Field<&I::preprocess, &P::fit, &F::fill>(), Between(0, 255), "",
        "Gray level of recipe fit's margins."),
    Row("fit_margin", kOfStreamIfSet, kInherited,
        ChoiceField<kFitMargins, &I::preprocess, &P::fit, &F::margin>(), Any(),
        "",
        "Place of recipe fit's margins: around the image, or at the right and "
        "below."),
    Row("scale_jitter_min", kOfStreamIfSet, kInherited,
        Field<&I::preprocess, &P::fit, &F::scale_min>(), Between(0, 10), "",
        "Least factor of recipe fit's random scale in training; 1: the size at "
        "which the image just fits.",
        "none"),
    Row("scale_jitter_max", kOfStreamIfSet, kInherited,
        Field<&I::preprocess, &P::fit, &F::scale_max>(), Between(0, 10), "",
        "Largest factor of this scale; a larger image is cut at random.",
        "none"),
    Row("iou_crop", kOfStreamIfSet, kOwn,
        Field<&I::preprocess, &P::crop, &C::iou_crop>(), Any(), "",
        "Crop training images of recipes plain and fit at random so that the "
        "crop overlaps one of their boxes enough: torchvision's RandomIoUCrop. "
        "Needs objects."),
    Row("scaled_decode", kOfStream, kOwn,
        Field<&I::preprocess, &P::scaled_decode>(), Any(), "",
        "Decode a training JPEG at 1/2, 1/4 or 1/8 of its size if its crop "
        "is that much larger than image_size: faster, but the pixels differ."),
    Row("augment", kOfStream, kOwn,
        ChoiceField<kAugmentPolicies, &I::preprocess, &P::augment,
                    &A::policy>(),
        Any(), "", "Augmentation of training images beyond crop and flip."),
    Row("augment_layers", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::layers>(), Between(1, 16),
        "operations", "Operations that each randaugment applies to an image.")
        .Needs("augment", kRandAugments),
    Row("augment_magnitude", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::magnitude>(), Between(0, 30), "",
        "Strength of each randaugment's operations; timm_randaugment's is at "
        "most 10.")
        .Needs("augment", kRandAugments),
    Row("augment_magnitude_std", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::magnitude_std>(), Between(0, 10),
        "", "Standard deviation of timm_randaugment's magnitude.")
        .Needs("augment", "timm_randaugment"),
    Row("augment_interpolation", kOfStream, kOwn,
        ChoiceField<kMoveFilters, &I::preprocess, &P::augment,
                    &A::interpolation>(),
        Any(), "",
        "Filter by which trivialaugment and torchvision_randaugment move "
        "pixels: nearest, torchvision's default, bilinear, as its training "
        "scripts, or bicubic.")
        .Needs("augment", "trivialaugment|torchvision_randaugment"),
    Row("brightness", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::brightness>(), NotNegative(), "",
        "Colour jitter: a factor for the brightness of each training image is "
        "drawn from 1 - x to 1 + x; 0: none."),
    Row("contrast", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::contrast>(), NotNegative(), "",
        "Colour jitter: the same for the contrast."),
    Row("saturation", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::saturation>(), NotNegative(), "",
        "Colour jitter: the same for the saturation."),
    Row("hue", kOfStream, kOwn, Field<&I::preprocess, &P::augment, &A::hue>(),
        Between(0, 0.5), "",
        "Colour jitter: the hue of each training image is turned by -x to x of "
        "the colour circle; 0: none."),
    Row("jitter_probability", kOfStreamIfSet, kOwn,
        Field<&I::preprocess, &P::augment, &A::jitter_probability>(),
        Between(0, 1), "",
        "Colour jitter: the probability that a training image gets it.")
        .Needs("brightness|contrast|saturation|hue"),
    Row("grayscale", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::grayscale>(), Between(0, 1), "",
        "Probability that a training image becomes gray."),
    Row("blur", kOfStream, kOwn, Field<&I::preprocess, &P::augment, &A::blur>(),
        Between(0, 1), "",
        "Probability that a training image is blurred, by a Gaussian of 0.1 "
        "to 2 pixels."),
    Row("solarize", kOfStreamIfSet, kOwn,
        Field<&I::preprocess, &P::augment, &A::solarize>(), Between(0, 1), "",
        "Probability that a training image is solarized: levels from 128 are "
        "inverted."),
    Row("random_erasing", kOfStream, kOwn,
        Field<&I::preprocess, &P::augment, &A::erasing>(), Between(0, 1), "",
        "Probability that a rectangle of a training image is erased."),
    Row("erasing_mode", kOfStream, kOwn,
        ChoiceField<kErasingModes, &I::preprocess, &P::augment,
                    &A::erasing_mode>(),
        Any(), "",
        "Content of erased rectangles: black, ImageNet's mean colour, or noise "
        "for each pixel.")
        .Needs("random_erasing"),
};

constexpr InputOption kBadRecords[] = {
    Row("on_bad_record", kNotOfStream, kOwn,
        ChoiceField<kOnBadRecords, &I::on_bad_record>(), Any(), "",
        "Policy for a record that cannot be read: end the run (fail), use "
        "another record (replace), leave its slot empty (skip), or auto: "
        "replace in training, else skip."),
    Row("max_bad_records", kNotOfStream, kOwn, Field<&I::max_bad_records>(),
        Between(-1, kMost64), "records",
        "End the run after this many different bad records, of all ranks; -1: "
        "never."),
    Row("max_bad_rate", kNotOfStream, kOwn, Field<&I::max_bad_rate>(),
        Between(0, 1), "",
        "End the run when more than this fraction of the samples is bad."),
    Row("bad_record_report", kNotOfStream, kOwn, Field<&I::bad_record_report>(),
        Any(), "path",
        "File that lists every bad record, one JSON object a line.", "no file"),
    Row("require_labels", kNotOfStream, kOwn, Field<&I::require_labels>(),
        Any(), "",
        "A record without a label is bad, or has the label -1 in its batch."),
    Row("lenient", kNotOfStream, kOwn, Field<&I::preprocess, &P::lenient>(),
        Any(), "", "Use JPEGs that libjpeg only warns about, and count them."),
    Row("max_pixels", kOfStream, kOwn,
        Field<&I::preprocess, &P::limits, &JpegLimits::max_pixels>(),
        Between(1, kMost64), "pixels",
        "Maximum size of an image; a larger one is a bad record."),
    Row("max_field_bytes", kNotOfStream, kOwn, Field<&I::max_field_bytes>(),
        Between(1, 0x1p30), "bytes",
        "Size of a record's fields without a shape, together; a larger one is "
        "a bad record."),
};

constexpr InputOption kPerformance[] = {
    Row("graph", kNotOfStream, kInherited,
        ChoiceField<kGraphKinds, &I::graph>(), Any(), "",
        "Schedule of the input: overlapped in all threads (flow), or one "
        "record after the other (basic), to show the effect of a slow input."),
    Row("threads", kNotOfStream, kInherited, Field<&I::threads>(),
        Between(0, kMostThreads), "threads", "Threads of the input pipeline.",
        "one for each core"),
    Row("batches_in_pool", kNotOfStream, kInherited,
        Field<&I::batches_in_pool>(), Between(2, kMostPool), "batches",
        "Batches in memory: being filled, waiting or in use."),
    Row("max_lent", kNotOfStream, kOwn, Field<&I::max_lent>(),
        Between(0, kMostPool - 1), "batches",
        "Batches of the pool that the consumer may hold at once before it gets "
        "copies; 0: it gets no copies, and must return batches."),
    Row("prefetch_batches", kNotOfStream, kInherited,
        Field<&I::prefetch_batches>(), Between(0, kMostPool), "batches",
        "Batches beyond those in the pool whose records are read in advance."),
    Row("verify_checksums", kNotOfStream, kOwn, Field<&I::verify_checksums>(),
        Any(), "", "Verify the checksum of every record."),
    Row("map_files", kNotOfStream, kInherited, Field<&I::map_files>(), Any(),
        "",
        "Use records where they lie in the page cache, without a copy, if all "
        "shards fit into half of the memory; false: read them."),
    Row("seek_index", kNotOfStream, kOwn,
        ChoiceField<kSeekIndexes, &I::seek_index>(), Any(), "",
        "Seek indexes, with which only a part of a JPEG is decoded: use those "
        "of the data and find others while decoding, for later epochs and runs "
        "(auto), use those of the data (read), or none (off)."),
    Row("use_cache", kNotOfStream, kOwn, Field<&I::use_cache>(), Any(), "",
        "Keep encoded records in memory, as far as memory_limit allows."),
    Common(Row(
        "memory_limit", kNotOfStream, kInherited, Field<&I::memory_limit>(),
        Between(1, 0x1p60), "bytes",
        "Memory that the input may use, checked at the start: as 4GiB, 512MB, "
        "or as 50% of the memory of the machine or control group.")),
    Row("local_world_size", kNotOfStream, kOwn, Field<&I::local_world_size>(),
        Between(1, kMostBatch), "ranks",
        "Ranks on this machine, which share the memory limit."),
    Row("workers", kNotOfStream, kInherited, Field<&I::workers>(), Any(), "",
        "Programs input_worker on other machines, which make batches beside "
        "the threads here, as HOST:PORT, dns:///NAME:PORT (all addresses of "
        "the name) or @FILE (one a line), separated by commas.",
        "none"),
    Row("workers_in_flight", kNotOfStream, kInherited,
        Field<&I::workers_in_flight>(), Between(0, kMostRanges), "ranges",
        "Ranges of up to 16 images that all workers have at once; more need "
        "memory, and hide a longer way to the workers.",
        "what the pool holds, at most 32"),
    Row("workers_check", kNotOfStream, kInherited, Field<&I::workers_check>(),
        Between(0, kMost64), "ranges",
        "Make one of so many ranges of the workers here, too, and compare: a "
        "worker that differs is not used any more; 0: only the first range of "
        "each worker."),
};

constexpr InputOptionGroup kGroups[] = {{"Stream", kStream},
                                        {"Images", kImages},
                                        {"Bad records", kBadRecords},
                                        {"Performance", kPerformance}};

}  // namespace

std::span<const InputOptionGroup> InputOptionGroups() { return kGroups; }

std::span<const InputOption> InputOptionTable() {
  static const std::vector<InputOption> kAll = [] {
    std::vector<InputOption> all;
    for (const InputOptionGroup& group : kGroups) {
      all.insert(all.end(), group.options.begin(), group.options.end());
    }
    return all;
  }();
  return kAll;
}

std::vector<InputOption> ViewOptions() {
  std::vector<InputOption> options;
  std::ranges::copy_if(
      kImages, std::back_inserter(options),
      [](const InputOption& option) { return option.name != "layout"; });
  return options;
}

const InputOption& FindInputOption(std::string_view name) {
  const auto found =
      std::ranges::find(InputOptionTable(), name, &InputOption::name);
  Check(found != InputOptionTable().end(), "an input option has this name");
  return *found;
}

InputOptions EvaluationOptions(InputOptions training) {
  InputOptions evaluation = {.training = false};
  for (const InputOption& option : InputOptionTable()) {
    if (option.eval_inherits) {
      CopyOption(option.at(training), option.at(evaluation));
    }
  }
  return evaluation;
}

namespace {

// The options of "a|b".
std::vector<const InputOption*> OptionsNamed(std::string_view names) {
  std::vector<const InputOption*> options;
  for (const InputOption& option : InputOptionTable()) {
    if (IsChoice(names, option.name)) {
      options.push_back(&option);
    }
  }
  return options;
}

bool IsDefault(const InputOption& option, InputOptions& options) {
  InputOptions standard;
  return ValueText(option, option.at(options)) ==
         ValueText(option, option.at(standard));
}

bool IsMet(const InputNeed& need, InputOptions& options) {
  const auto meets = [&](const InputOption* other) {
    return need.values.empty()
               ? !IsDefault(*other, options)
               : IsChoice(need.values, ValueText(*other, other->at(options)));
  };
  return std::ranges::any_of(OptionsNamed(need.others), meets);
}

}  // namespace

void CheckInputNeeds(
    const InputOptions& options,
    const std::function<std::string_view(const InputOption&)>& name) {
  InputOptions checked = options;  // Rows find the fields of changeable ones.
  for (const InputOption& option : InputOptionTable()) {
    if (option.need.others.empty() || IsDefault(option, checked) ||
        IsMet(option.need, checked)) {
      continue;
    }
    std::string others;
    for (const InputOption* other : OptionsNamed(option.need.others)) {
      others.append(others.empty() ? "" : "|").append(name(*other));
    }
    const std::string values = ChoicesText(option.need.values);
    throw UsageError(std::string(name(option)) + "=" +
                     ValueText(option, option.at(checked)) + ": needs " +
                     ChoicesText(others) +
                     (values.empty() ? "" : "=" + values));
  }
}

void CheckInputRanges(const InputOptions& options) {
  InputOptions checked = options;  // Rows find the fields of changeable ones.
  for (const InputOption& option : InputOptionTable()) {
    CheckOption(option, option.at(checked));
  }
}

}  // namespace infeed
