#include "tools/input/input_flags.h"

#include <CLI/CLI.hpp>

#include "pipeline/reading/memory_limit.h"
#include "tools/cli/completion.h"

namespace infeed {
namespace {

// Flags of one group of the help text.
class FlagGroup {
 public:
  FlagGroup(CLI::App& app, std::string name)
      : app_(app), name_(std::move(name)) {}

  template <typename Value>
  CLI::Option* Option(const std::string& flag, Value& value,
                      const std::string& help) {
    return app_.add_option(flag, value, help)
        ->capture_default_str()
        ->group(name_);
  }
  CLI::Option* Switch(const std::string& flags, bool& value,
                      const std::string& help) {
    return app_.add_flag(flags, value, help)->group(name_);
  }

 private:
  CLI::App& app_;
  std::string name_;
};

void AddImageFlags(CLI::App& app, InputFlags& flags) {
  InputOptions& options = flags.options;
  FlagGroup group(app, "Images");
  group.Option("--image_size", options.image_size,
               "Side of an image, in pixels.");
  group.Option(
      "--recipe", flags.recipe,
      "Preprocessing, in training and with --eval: tpu (the reference's "
      "crops), torchvision, plain (the whole image) or cifar.");
  group.Option("--interpolation", flags.interpolation,
               "Kernel of the resize: recipe (its own), bicubic, bilinear or "
               "antialias.");
  group.Switch("--scaled_decode", options.scaled_decode,
               "Decode JPEGs to 1/2, 1/4 or 1/8 where the crop is that much "
               "larger than the output: faster, other pixels.");
  group.Option(
      "--augment", flags.augment,
      "Augmentation of training images: none, randaugment or autoaugment.");
  group.Option("--augment_layers", options.augment.layers,
               "Operations that randaugment applies to an image.");
  group.Option("--augment_magnitude", options.augment.magnitude,
               "Strength of randaugment's operations, 0 to 30.");
  group
      .Option("--color_jitter", flags.color_jitter,
              "Variation of brightness, contrast, saturation and hue of "
              "training images, as 0.4,0.4,0.4,0.1.")
      ->delimiter(',')
      ->expected(4)
      ->type_name("B,C,S,H");
  group.Option("--random_erasing", options.augment.erasing,
               "Probability that a rectangle of a training image is erased.");
}

void AddBadRecordFlags(CLI::App& app, InputFlags& flags) {
  InputOptions& options = flags.options;
  FlagGroup group(app, "Bad records");
  group.Option("--on_bad_record", flags.on_bad_record,
               "Policy for a bad record: fail, replace (by another) or skip "
               "(an empty slot).");
  group.Option(
      "--max_bad_records", options.max_bad_records,
      "End with an error after this many different bad records; -1: never.");
  group.Option(
      "--max_bad_rate", options.max_bad_rate,
      "End with an error when more than this share of the samples is bad.");
  group
      .Option("--bad_record_report", options.bad_record_report,
              "File that lists every bad record, one JSON object a line.")
      ->type_name("FILE");
  group.Switch("--require_labels,!--no_require_labels", options.require_labels,
               "A record without a label is bad (the default), or has the "
               "label -1 in its batch.");
  group.Switch("--lenient", options.lenient,
               "Use JPEGs that libjpeg only warns about, and count them.");
}

}  // namespace

void AddStreamFlags(CLI::App& app, InputFlags& flags) {
  InputOptions& options = flags.options;
  FlagGroup group(app, "Stream");
  group.Option("--batch_size", options.batch_size,
               "Images of a batch, of all ranks together.");
  group.Switch("--training,!--eval", options.training,
               "Random crops and endless epochs (the default), or one epoch "
               "without anything random.");
  group.Option("--repeat", options.repeat,
               "Epochs; 0: endless in training, one in evaluation.");
  group.Option("--shuffle", flags.shuffle,
               "Order of the records: global, window, reference, torch or "
               "none. [global; with --eval none]");
  group.Option("--window_shards", options.window_shards,
               "Shards that shuffle=window interleaves at once.");
  group.Option("--window_records", options.window_records,
               "Records that shuffle=window shuffles among each other.");
  group.Option("--seed", options.seed,
               "Seed of the order and all that is random.");
  group.Option("--last_batch", flags.last_batch,
               "Treatment of records that do not fill the last batch of an "
               "epoch: drop, pad (empty slots), repeat (from the epoch's "
               "beginning) or auto (drop in training, else pad).");
  group.Option("--rank", options.rank,
               "Number of this process, which decides its part of each batch.");
  group.Option("--world_size", options.world_size,
               "Processes that share a batch.");
  group.Option("--rank_share", flags.rank_share,
               "Parts of a batch: contiguous, or strided and strided_drop as "
               "PyTorch's DistributedSampler shares.");
  group.Option("--label_offset", flags.label_offset,
               "Label of the first class in the records: 0, 1, or auto (what "
               "dataset.json says, else 0 where a label 0 occurs, else 1).");
  AddImageFlags(app, flags);
  AddBadRecordFlags(app, flags);
  NameValues(app, {{"--shuffle", "global|window|reference|torch|none"},
                   {"--last_batch", "drop|pad|repeat|auto"},
                   {"--rank_share", "contiguous|strided|strided_drop"},
                   {"--recipe", "tpu|torchvision|plain|cifar"},
                   {"--interpolation", "recipe|bicubic|bilinear|antialias"},
                   {"--augment", "none|randaugment|autoaugment"},
                   {"--on_bad_record", "fail|replace|skip"},
                   {"--label_offset", "auto|0|1"}});
}

void AddPerformanceFlags(CLI::App& app, InputFlags& flags) {
  InputOptions& options = flags.options;
  FlagGroup group(app, "Performance");
  group.Option("--graph", flags.graph,
               "Schedule of the input: flow, or basic, one record after the "
               "other, to see what a slow input does.");
  group.Option("--batches_in_pool", options.batches_in_pool,
               "Batches that are being filled or waiting at once.");
  group.Option(
      "--prefetch_batches", options.prefetch_batches,
      "Batches ahead of those in the pool whose records are read already.");
  group.Switch("--verify_checksums,!--no_verify_checksums",
               options.verify_checksums,
               "Check the checksum of every record (the default), or not.");
  group.Switch("--seek_index,!--no_seek_index", options.use_seek_indexes,
               "Enter JPEGs by their seek indexes where they have one (the "
               "default), or not.");
  group.Switch("--use_cache", options.use_cache,
               "Keep encoded records in memory, as far as the limit allows.");
  group.Option("--memory_limit", flags.memory_limit,
               "Memory that the process may use, as 4GiB, 512MB, or 50% of the "
               "memory of the machine or control group.");
  group.Option("--local_world_size", options.local_world_size,
               "Ranks on this machine, which share the memory limit.");
  NameValues(app, {{"--graph", "flow|basic"}});
}

InputOptions ResolveInput(const InputFlags& flags) {
  InputOptions options = flags.options;
  options.recipe = ParseRecipe(flags.recipe);
  options.interpolation = ParseInterpolation(flags.interpolation);
  options.augment.policy = ParseAugmentPolicy(flags.augment);
  if (!flags.color_jitter.empty()) {
    options.augment.brightness = flags.color_jitter[0];
    options.augment.contrast = flags.color_jitter[1];
    options.augment.saturation = flags.color_jitter[2];
    options.augment.hue = flags.color_jitter[3];
  }
  options.label_offset = ParseLabelOffset(flags.label_offset);
  options.on_bad_record = ParseOnBadRecord(flags.on_bad_record);
  options.rank_share = ParseRankShare(flags.rank_share);
  options.last_batch = ParseLastBatch(flags.last_batch);
  options.graph = ParseGraphKind(flags.graph);
  options.memory_limit = ParseMemoryLimit(flags.memory_limit);
  if (flags.shuffle.empty()) {
    options.shuffle = options.training ? Shuffle::kGlobal : Shuffle::kNone;
  } else {
    options.shuffle = ParseShuffle(flags.shuffle);
  }
  return options;
}

}  // namespace infeed
