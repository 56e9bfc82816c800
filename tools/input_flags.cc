#include "tools/input_flags.h"

#include <CLI/CLI.hpp>

#include "pipeline/memory_limit.h"

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
  group.Option("--image_size", options.image_size, "side of an image, pixels");
  group.Option("--recipe", flags.recipe,
               "how images become input, in training and with --eval: tpu "
               "(the reference's crops), torchvision, plain (the whole image) "
               "or cifar");
  group.Option("--interpolation", flags.interpolation,
               "of the resize: recipe (its own), bicubic, bilinear or "
               "antialias");
  group.Switch("--scaled_decode", options.scaled_decode,
               "decode JPEGs to 1/2, 1/4 or 1/8 where the crop is that much "
               "larger than the output: faster, other pixels");
  group.Option("--augment", flags.augment,
               "of training images: none, randaugment or autoaugment");
  group.Option("--augment_layers", options.augment.layers,
               "operations that randaugment applies to an image");
  group.Option("--augment_magnitude", options.augment.magnitude,
               "how strong randaugment's are, 0 to 30");
  group
      .Option("--color_jitter", flags.color_jitter,
              "how far brightness, contrast, saturation and hue of training "
              "images vary, as 0.4,0.4,0.4,0.1")
      ->delimiter(',')
      ->expected(4)
      ->type_name("B,C,S,H");
  group.Option("--random_erasing", options.augment.erasing,
               "probability that a rectangle of a training image is erased");
}

void AddBadRecordFlags(CLI::App& app, InputFlags& flags) {
  InputOptions& options = flags.options;
  FlagGroup group(app, "Bad records");
  group.Option("--on_bad_record", flags.on_bad_record,
               "fail, replace (by another) or skip (an empty slot)");
  group.Option("--max_bad_records", options.max_bad_records,
               "end with an error after so many different ones; -1: never");
  group.Option("--max_bad_rate", options.max_bad_rate,
               "end with an error when more than this share of the samples is "
               "bad");
  group
      .Option("--bad_record_report", options.bad_record_report,
              "lists every bad record there, one JSON object a line")
      ->type_name("FILE");
  group.Switch("--lenient", options.lenient,
               "use JPEGs that libjpeg only warns about, and count them");
}

}  // namespace

void AddStreamFlags(CLI::App& app, InputFlags& flags) {
  InputOptions& options = flags.options;
  FlagGroup group(app, "Stream");
  group.Option("--batch_size", options.batch_size, "images of a global batch");
  group.Switch("--training,!--eval", options.training,
               "random crops and epochs for ever (the default), or one epoch "
               "without anything random");
  group.Option("--repeat", options.repeat,
               "epochs; 0: for ever in training, one in evaluation");
  group.Option(
      "--shuffle", flags.shuffle,
      "global, window, reference, torch or none [global; with --eval none]");
  group.Option("--window_shards", options.window_shards,
               "shards that shuffle=window interleaves at once");
  group.Option("--window_records", options.window_records,
               "records that it shuffles among each other");
  group.Option("--seed", options.seed, "of the order and all that is random");
  group.Option("--last_batch", flags.last_batch,
               "of an epoch, where records do not fill it: drop, pad (empty "
               "slots), repeat (from the epoch's beginning) or auto (drop in "
               "training, else pad)");
  group.Option("--rank", options.rank, "this process's part of each batch");
  group.Option("--world_size", options.world_size, "how many share a batch");
  group.Option("--rank_share", flags.rank_share,
               "contiguous, or strided and strided_drop as PyTorch's "
               "DistributedSampler shares");
  AddImageFlags(app, flags);
  AddBadRecordFlags(app, flags);
}

void AddPerformanceFlags(CLI::App& app, InputFlags& flags) {
  InputOptions& options = flags.options;
  FlagGroup group(app, "Performance");
  group.Option("--graph", flags.graph,
               "flow, or basic: one record after the other, nothing "
               "overlapped, to see what a slow input does");
  group.Option("--batches_in_pool", options.batches_in_pool,
               "batches that are filled or waiting at once");
  group.Option("--prefetch_batches", options.prefetch_batches,
               "batches ahead of those whose records are asked for");
  group.Switch("--verify_checksums,!--no_verify_checksums",
               options.verify_checksums,
               "of every record (the default), or not");
  group.Switch("--seek_index,!--no_seek_index", options.use_seek_indexes,
               "enter JPEGs by their seek indexes where they have one (the "
               "default), or not");
  group.Switch("--use_cache", options.use_cache,
               "keep encoded records in memory, as far as the limit allows");
  group.Option("--memory_limit", flags.memory_limit,
               "what the process may take, as 4GiB, 512MB, or 50% of the "
               "machine's or control group's memory");
  group.Option("--local_world_size", options.local_world_size,
               "ranks on this machine, which share the memory limit");
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
