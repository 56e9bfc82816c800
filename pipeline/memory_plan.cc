#include "pipeline/memory_plan.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kPixelBytes = sizeof(std::uint32_t);
constexpr std::int64_t kSlotBytes = sizeof(std::int32_t) + sizeof(float);
constexpr std::int64_t kDecodedPerEncodedByte = 12;
constexpr std::int64_t kRgbBytes = 3;
// A record's length comes from a file: what a product of it cannot overflow.
constexpr std::int64_t kLongestRecord =
    std::numeric_limits<std::int64_t>::max() >> 24;

std::string Item(std::int64_t count, std::string_view what,
                 std::int64_t bytes) {
  return std::to_string(count) + " " + std::string(what) + " (" +
         std::to_string(bytes) + ")";
}

}  // namespace

int SamplesInFlight(const InputOptions& options) { return 2 * options.threads; }

MemoryPlan PlanMemory(const InputOptions& options, std::int64_t longest_record,
                      std::int64_t packed) {
  const std::int64_t record = std::min(longest_record, kLongestRecord);
  const std::int64_t side = options.image_size;
  const std::int64_t slots = options.batch_size / options.world_size;
  MemoryPlan plan;
  plan.packed = packed;
  plan.batches = options.batches_in_pool * slots *
                 (side * side * kPixelBytes + kSlotBytes);
  plan.records = SamplesInFlight(options) * record;
  plan.decoding =
      options.threads *
      std::min(
          record * kDecodedPerEncodedByte,
          std::min(options.jpeg_limits.max_pixels, kLongestRecord) * kRgbBytes);
  if (plan.total() > options.memory_limit) {
    throw UsageError(
        "memory_limit is " + std::to_string(options.memory_limit) +
        " bytes, but up to " + std::to_string(plan.total()) + " are needed: " +
        Item(options.batches_in_pool, "batches", plan.batches) + ", " +
        Item(SamplesInFlight(options), "records in flight", plan.records) +
        ", " + Item(options.threads, "decoders", plan.decoding) +
        (packed > 0 ? ", compressed shards (" + std::to_string(packed) + ")"
                    : "") +
        ": raise it, or lower batch_size, image_size, batches_in_pool" +
        (packed > 0 ? ", window_records" : "") + " or threads");
  }
  return plan;
}

}  // namespace infeed
