#include "pipeline/options.h"

#include <limits>
#include <string>
#include <thread>

#include "base/error.h"

namespace infeed {
namespace {

constexpr int kMaxBatch = 1 << 20;
constexpr int kMaxImageSize = 1 << 14;
constexpr int kMaxThreads = 1 << 10;
constexpr int kMaxPool = 1 << 10;

// Throws unless low <= value <= high.
void CheckRange(std::string_view name, std::int64_t value, std::int64_t low,
                std::int64_t high) {
  if (value < low || value > high) {
    throw UsageError(std::string(name) + " is " + std::to_string(value) +
                     ": give a number from " + std::to_string(low) + " to " +
                     std::to_string(high));
  }
}

[[noreturn]] void ThrowUnknown(std::string_view option, std::string_view name,
                               std::string_view choices) {
  throw UsageError(std::string(option) + " is \"" + std::string(name) +
                   "\": give " + std::string(choices));
}

}  // namespace

Shuffle ParseShuffle(std::string_view name) {
  if (name == "none") {
    return Shuffle::kNone;
  }
  if (name == "global") {
    return Shuffle::kGlobal;
  }
  ThrowUnknown("shuffle", name, "none or global");
}

OnBadRecord ParseOnBadRecord(std::string_view name) {
  if (name == "fail") {
    return OnBadRecord::kFail;
  }
  if (name == "replace") {
    return OnBadRecord::kReplace;
  }
  if (name == "skip") {
    return OnBadRecord::kSkip;
  }
  ThrowUnknown("on_bad_record", name, "fail, replace or skip");
}

InputOptions CheckedInputOptions(InputOptions options) {
  CheckRange("world_size", options.world_size, 1, kMaxBatch);
  CheckRange("rank", options.rank, 0, options.world_size - 1);
  CheckRange("batch_size", options.batch_size, 1, kMaxBatch);
  CheckRange("image_size", options.image_size, 1, kMaxImageSize);
  CheckRange("max_records", options.max_records, 0,
             std::numeric_limits<std::int64_t>::max());
  CheckRange("threads", options.threads, 0, kMaxThreads);
  CheckRange("batches_in_pool", options.batches_in_pool, 2, kMaxPool);
  CheckRange("jpeg_limits.max_pixels", options.jpeg_limits.max_pixels, 1,
             std::numeric_limits<std::int64_t>::max());
  if (options.batch_size % options.world_size != 0) {
    throw UsageError("batch_size " + std::to_string(options.batch_size) +
                     " is not a multiple of world_size " +
                     std::to_string(options.world_size) +
                     ": every rank takes an equal part");
  }
  if (options.threads == 0) {
    const unsigned cores = std::thread::hardware_concurrency();
    options.threads = cores == 0 ? 1 : static_cast<int>(cores);
  }
  return options;
}

}  // namespace infeed
