#include "pipeline/order/options.h"

#include <limits>
#include <string>
#include <thread>

#include "base/error.h"
#include "pipeline/order/thread_limit.h"
#include "preprocess/pixels/named_choice.h"

namespace infeed {
namespace {

constexpr int kMaxBatch = 1 << 20;
constexpr int kMaxImageSize = 1 << 14;
constexpr int kMaxPool = 1 << 10;
constexpr int kMaxWindow = 1 << 24;
constexpr std::int64_t kMaxEpochs = std::numeric_limits<std::uint32_t>::max();

// Throws unless low <= value <= high.
void CheckRange(std::string_view name, std::int64_t value, std::int64_t low,
                std::int64_t high) {
  if (value < low || value > high) {
    throw UsageError(std::string(name) + " is " + std::to_string(value) +
                     ": give a number from " + std::to_string(low) + " to " +
                     std::to_string(high));
  }
}

constexpr Choices<OnBadRecord, 3> kPolicies = {
    {{"fail", OnBadRecord::kFail},
     {"replace", OnBadRecord::kReplace},
     {"skip", OnBadRecord::kSkip}}};
constexpr Choices<GraphKind, 2> kGraphs = {
    {{"flow", GraphKind::kFlow}, {"basic", GraphKind::kBasic}}};

constexpr Choices<std::optional<int>, 3> kLabelOffsets = {
    {{"auto", std::nullopt}, {"0", 0}, {"1", 1}}};

// A device can resize with four taps, and do nothing after that.
void CheckDeviceResize(const InputOptions& options) {
  if (KernelOf(PreprocessOptionsOf(options)) == ResizeKernel::kAntialias) {
    throw UsageError(
        "device_resize: the device has the kernels of four taps; give "
        "interpolation bicubic or bilinear, or leave device_resize out");
  }
  if (options.training && options.recipe == Recipe::kCifar) {
    throw UsageError(
        "device_resize: recipe cifar moves images once they are resized, "
        "which the device does not; give another, or leave device_resize out");
  }
  if (options.training && options.augment.is_any_on()) {
    throw UsageError(
        "device_resize: images are augmented once they are resized, which the "
        "device does not; leave augment_name and random_erasing out, or "
        "device_resize");
  }
}

// Sets the options whose default depends on the mode (training or not).
void ResolveByMode(InputOptions& options) {
  if (options.last_batch == LastBatch::kByMode) {
    options.last_batch = options.training ? LastBatch::kDrop : LastBatch::kPad;
  }
  if (!options.training && options.repeat == 0) {
    options.repeat = 1;
  }
}

}  // namespace

OnBadRecord ParseOnBadRecord(std::string_view name) {
  return ParseChoice("on_bad_record", name, kPolicies);
}

std::optional<int> ParseLabelOffset(std::string_view name) {
  return ParseChoice("label_offset", name, kLabelOffsets);
}

GraphKind ParseGraphKind(std::string_view name) {
  return ParseChoice("graph", name, kGraphs);
}

std::string_view OnBadRecordName(OnBadRecord policy) {
  return ChoiceName(policy, kPolicies);
}

std::string_view GraphKindName(GraphKind graph) {
  return ChoiceName(graph, kGraphs);
}

InputOptions CheckedInputOptions(InputOptions options) {
  CheckRange("world_size", options.world_size, 1, kMaxBatch);
  CheckRange("rank", options.rank, 0, options.world_size - 1);
  CheckRange("batch_size", options.batch_size, 1, kMaxBatch);
  CheckRange("image_size", options.image_size, 1, kMaxImageSize);
  CheckRange("max_records", options.max_records, 0,
             std::numeric_limits<std::int64_t>::max());
  CheckRange("repeat", options.repeat, 0, kMaxEpochs);
  CheckRange("window_shards", options.window_shards, 1, kMaxWindow);
  CheckRange("window_records", options.window_records, 1, kMaxWindow);
  CheckRange("label_offset", options.label_offset.value_or(0), 0, 1);
  CheckRange("num_label_classes", options.num_label_classes, 0,
             std::numeric_limits<std::int32_t>::max());
  CheckRange("max_bad_records", options.max_bad_records, -1,
             std::numeric_limits<std::int64_t>::max());
  if (!(options.max_bad_rate >= 0 && options.max_bad_rate <= 1)) {
    throw UsageError("max_bad_rate is " + std::to_string(options.max_bad_rate) +
                     ": give a share from 0 to 1");
  }
  CheckAugmentOptions(options.augment);
  CheckRange("local_world_size", options.local_world_size, 1,
             options.world_size);
  CheckRange("prefetch_batches", options.prefetch_batches, 0, kMaxPool);
  CheckRange("threads", options.threads, 0, kMostThreads);
  CheckRange("batches_in_pool", options.batches_in_pool, 2, kMaxPool);
  CheckRange("jpeg_limits.max_pixels", options.jpeg_limits.max_pixels, 1,
             std::numeric_limits<std::int64_t>::max());
  if (options.batch_size % options.world_size != 0) {
    throw UsageError("batch_size " + std::to_string(options.batch_size) +
                     " is not a multiple of world_size " +
                     std::to_string(options.world_size) +
                     ": every rank takes an equal part");
  }
  if (options.device_resize) {
    CheckDeviceResize(options);
  }
  if (options.threads == 0) {
    const unsigned cores = std::thread::hardware_concurrency();
    options.threads = cores == 0 ? 1 : static_cast<int>(cores);
  }
  if (options.graph == GraphKind::kBasic) {
    options.threads = 1;  // The consumer's thread.
    options.prefetch_batches = 0;
  }
  ResolveByMode(options);
  return options;
}

BatchContent ContentOf(const InputOptions& options) {
  return options.device_resize ? BatchContent::kWindows : BatchContent::kPixels;
}

PreprocessOptions PreprocessOptionsOf(const InputOptions& options) {
  return {.recipe = options.recipe,
          .interpolation = options.interpolation,
          .training = options.training,
          .random_flip = options.random_flip,
          .image_size = options.image_size,
          .scaled_decode = options.scaled_decode,
          .augment = options.augment,
          .limits = options.jpeg_limits,
          .warnings = options.lenient ? JpegWarnings::kTolerated
                                      : JpegWarnings::kErrors};
}

}  // namespace infeed
