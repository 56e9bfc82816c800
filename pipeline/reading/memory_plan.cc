#include "pipeline/reading/memory_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "pipeline/memory/batch.h"
#include "records/bytes/byte_size.h"
#include "records/cloud/cloud_settings.h"

namespace infeed {
namespace {

constexpr std::int64_t kMebi = 1 << 20;
// Resident pages of a program with this engine that has decoded a batch: 57 MiB
// measured, mostly libraries.
constexpr std::int64_t kProgram = 64 * kMebi;
// A thread's touched stack and its share of the allocators' pools.
constexpr std::int64_t kThread = 1 * kMebi;
// Offset and length of a record, and one of the two again while the index is
// built.
constexpr std::int64_t kIndexEntry = 3 * sizeof(std::int64_t);
// Rows of a decoder and the resize, for an image 16,000 pixels wide.
constexpr std::int64_t kRows = 4 * kMebi;
constexpr std::int64_t kSmallImage = 8 * kMebi;
// A record's length comes from a file; up to this bound its products cannot
// overflow.
constexpr std::int64_t kLongestRecord =
    std::numeric_limits<std::int64_t>::max() >> 24;

struct Part {
  std::string_view name;
  std::int64_t bytes;
};

std::array<Part, 11> PartsOf(const MemoryPlan& plan) {
  return {{{"program", plan.program},
           {"index", plan.index},
           {"batches", plan.batches},
           {"fields", plan.fields},
           {"records in flight", plan.records},
           {"prefetch", plan.prefetch},
           {"decoding", plan.decoding},
           {"compressed shards", plan.compressed},
           {"seek indexes", plan.seek_indexes},
           {"links", plan.links},
           {"cache", plan.cache}}};
}

// "program 64.0 MiB, index 1.0 MiB": the parts that are not 0.
std::string PartsText(const MemoryPlan& plan) {
  std::string text;
  for (const Part& part : PartsOf(plan)) {
    if (part.bytes > 0) {
      text += (text.empty() ? "" : ", ") + std::string(part.name) + " " +
              MemorySizeText(part.bytes);
    }
  }
  return text;
}

// The most memory of the ragged fields of so many slots of batches: the slots'
// lists and the batches' copies of them, in vectors that may be half empty.
std::int64_t FieldBytes(const InputOptions& options, std::int64_t slots) {
  constexpr std::int64_t kCopies = 4;
  constexpr std::int64_t kColumn =
      sizeof(FieldColumn) + 2 * sizeof(std::int64_t);
  const std::int64_t fields = std::ranges::count_if(
      ReadFields(options),
      [](const FieldSpec& field) { return !field.IsFixed(); });
  return fields == 0
             ? 0
             : kCopies * slots * (RaggedBytes(options) + fields * kColumn);
}

std::int64_t PoolSlots(const InputOptions& options) {
  return std::int64_t{options.batches_in_pool} * options.share();
}

// Who decodes at once: the threads, and whoever checks a worker's range.
std::int64_t Fillers(const InputOptions& options) {
  return std::int64_t{options.threads} + (options.workers.empty() ? 0 : 1);
}

// The ranges that come from workers, as RGB bytes, each up to three times: in
// the system's buffers, as it arrives, and whole (measured: two to three
// times); and the one that is filled here to check another.
std::int64_t LinkBytes(const InputOptions& options) {
  if (options.workers.empty()) {
    return 0;
  }
  BatchSpec range = BatchSpecOf(options);
  range.size = SlotsPerTask(options);
  if (range.content != BatchContent::kNone) {
    range.content = BatchContent::kRgb;
  }
  return (3 * std::int64_t{RangesInFlight(options)} + 1) *
         (Batch::MemoryBytes(range) + FieldBytes(options, range.size));
}

// Memory for seek indexes that are found: enough for all images of ImageNet's
// size, of which one takes some 280 bytes; more than an eighth of what
// is left would not pay.
std::int64_t SeekIndexBytes(const InputOptions& options,
                            const PlannedData& data, std::int64_t left) {
  constexpr std::int64_t kImage = 312;
  constexpr std::int64_t kFew = 4 * kMebi;
  return options.seek_index == SeekIndexes::kAuto
             ? std::min(std::max(data.records * kImage, kFew), left / 8)
             : 0;
}

// A worker's decoders: of the image, of views with other preprocessing, and of
// labels.
std::int64_t Decoders(const InputOptions& options) {
  const bool has_labels =
      std::ranges::any_of(options.views, &ViewSpec::is_labels);
  return 1 + static_cast<std::int64_t>(ViewPreprocessing(options).size()) +
         (has_labels ? 1 : 0);
}

// The required parts.
MemoryPlan LeastPlan(const InputOptions& options, const PlannedData& data) {
  const std::int64_t record = std::min(data.longest_record, kLongestRecord);
  const bool has_images = options.layout != BatchContent::kNone;
  const auto scratch =
      static_cast<std::int64_t>(ScratchWords(options) * sizeof(std::uint32_t));
  return {.limit = options.memory_limit / options.local_world_size,
          .program = kProgram + options.threads * kThread,
          .index = data.records * kIndexEntry,
          .batches = options.batches_in_pool *
                     Batch::MemoryBytes(BatchSpecOf(options)),
          .fields = FieldBytes(options, PoolSlots(options)),
          .records = Fillers(options) * record,
          .prefetch = data.in_cloud ? cloud_settings().byte_budget : 0,
          .decoding =
              Fillers(options) *
              (record +
               (has_images ? Decoders(options) * (kRows + kSmallImage) + scratch
                           : 0)),
          .compressed = data.compressed_bytes,
          .links = LinkBytes(options),
          .image = kSmallImage};
}

}  // namespace

std::size_t ScratchWords(const InputOptions& options) {
  if (options.layout != BatchContent::kRgb) {
    return 0;
  }
  std::size_t words = options.preprocess.image_size.pixels();
  for (const ViewSpec& view : options.views) {
    words = std::max(words, view.preprocess.image_size.pixels());
  }
  return words;
}

int SlotsPerTask(const InputOptions& options) {
  constexpr int kTasksPerThread = 4;
  constexpr int kMost = 16;
  return std::clamp(options.share() / (kTasksPerThread * options.threads), 1,
                    kMost);
}

int RangesInFlight(const InputOptions& options) {
  constexpr std::int64_t kMost = 32;
  const std::int64_t slots = SlotsPerTask(options);
  const std::int64_t ranges = (PoolSlots(options) + slots - 1) / slots;
  return options.workers_in_flight > 0
             ? options.workers_in_flight
             : static_cast<int>(std::min(ranges, kMost));
}

MemoryPlan PlanMemory(const InputOptions& options, const PlannedData& data) {
  MemoryPlan plan = LeastPlan(options, data);
  std::int64_t left = plan.limit - plan.total();
  if (left < 0) {
    throw UsageError(
        "memory_limit is " + MemorySizeText(plan.limit) + ", but up to " +
        MemorySizeText(plan.total()) + " (" + std::to_string(plan.total()) +
        " bytes) is needed: " + PartsText(plan) +
        ": raise it, or lower batch_size, image_size, batches_in_pool" +
        (plan.fields > 0 ? ", max_field_bytes" : "") +
        (plan.compressed > 0 ? ", window_records (not in train_resnet)" : "") +
        (plan.links > 0 ? ", workers_in_flight" : "") + " or threads" +
        (plan.prefetch > 0
             ? "; none of these lowers the prefetch from a store: shards on a "
               "local disk need none"
             : ""));
  }
  plan.seek_indexes = SeekIndexBytes(options, data, left);
  left -= plan.seek_indexes;
  const std::int64_t for_images = options.use_cache ? left / 4 : left;
  const bool has_images = options.layout != BatchContent::kNone;
  const std::int64_t more_image =
      !has_images
          ? 0
          : std::clamp(for_images / (Fillers(options) * Decoders(options)),
                       std::int64_t{0},
                       std::max(options.preprocess.limits.max_memory_bytes -
                                    kSmallImage,
                                std::int64_t{0}));
  plan.image += more_image;
  plan.decoding += Fillers(options) * Decoders(options) * more_image;
  plan.cache = options.use_cache ? plan.limit - plan.total() : 0;
  return plan;
}

InputOptions PlannedOptions(InputOptions options, const MemoryPlan& plan) {
  const auto limit = [&plan](PreprocessOptions& preprocess) {
    std::int64_t& bytes = preprocess.limits.max_memory_bytes;
    bytes = std::min(bytes, plan.image);
  };
  limit(options.preprocess);
  for (ViewSpec& view : options.views) {
    limit(view.preprocess);
  }
  return options;
}

std::string MemoryText(const MemoryPlan& plan) {
  return "memory: up to " + MemorySizeText(plan.total()) + " of " +
         MemorySizeText(plan.limit) + ": " + PartsText(plan);
}

}  // namespace infeed
