#include "trainer/feed/run_input.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/memory/batch.h"
#include "pipeline/memory/batch_pool.h"
#include "trainer/feed/resident_images.h"

namespace infeed {
namespace {

std::int64_t CheckedBytes(const InputOptions& options) {
  const std::int64_t bytes =
      options.batches_in_pool * Batch::MemoryBytes(BatchSpecOf(options));
  if (bytes > options.memory_limit / options.local_world_size) {
    throw UsageError("memory_limit is " + std::to_string(options.memory_limit) +
                     " bytes, but the batches of fake data take " +
                     std::to_string(bytes) +
                     ": raise it, or lower the batch size, image_size or "
                     "batches_in_pool");
  }
  return bytes;
}

// The low byte of a packed pixel is unused.
constexpr std::uint32_t kPixelBits = 0xFFFFFF00;

void FillRandom(const InputOptions& options, Batch& batch) {
  const auto classes =
      static_cast<std::uint32_t>(std::max(1, options.num_label_classes));
  const std::size_t pixels = batch.pixels().size() / batch.labels().size();
  for (std::size_t i = 0; i < batch.labels().size(); ++i) {
    const std::uint64_t image =
        static_cast<std::uint64_t>(options.rank) * batch.labels().size() + i;
    SampleRandom random({.seed = options.seed, .position = image},
                        RandomStream::kMadeData);
    batch.labels()[i] = static_cast<std::int32_t>(random.Below(classes));
    std::ranges::generate(batch.pixels().subspan(i * pixels, pixels),
                          [&] { return random.Word() & kPixelBits; });
  }
  std::ranges::fill(batch.weights(), 1.0F);
}

void CopyBatch(const Batch& from, Batch& to) {
  std::ranges::copy(from.pixels(), to.pixels().begin());
  std::ranges::copy(from.labels(), to.labels().begin());
  std::ranges::copy(from.weights(), to.weights().begin());
}

// Fake data, in place of the reference driver's zeros: one batch that costs
// nothing to read, so that a run measures only its device. Arithmetic on zeros
// would take less power, and so run faster, than a training's.
class FakeData final : public BatchStream {
 public:
  explicit FakeData(const InputOptions& options,
                    const StreamPosition& start = {})
      : batch_size_(options.batch_size),
        share_(options.share()),
        batches_(options.training ? 0
                                  : (options.max_records *
                                         options.preprocess.crop.eval_crops +
                                     options.batch_size - 1) /
                                        options.batch_size),
        memory_bytes_(CheckedBytes(options)),
        position_(start),
        pool_(options.batches_in_pool, BatchSpecOf(options),
              options.batch_memory) {
    std::vector<BatchHandle> all;
    for (int i = 0; i < options.batches_in_pool; ++i) {
      all.push_back(pool_.Take());
      if (i == 0) {
        FillRandom(options, *all[0]);
      } else {
        CopyBatch(*all[0], *all.back());
      }
    }
  }

  [[nodiscard]] BatchHandle Next() override {
    if (batches_ > 0 && given_ == batches_) {
      return nullptr;
    }
    BatchHandle batch = pool_.Take();
    if (batch) {
      position_.position += batch_size_;
      batch->next = position_;
      ++given_;
    }
    return batch;
  }

  void Stop() override { pool_.Close(); }
  [[nodiscard]] StreamPosition position() const override { return position_; }
  // Counts only: there are no stages.
  [[nodiscard]] PipelineStats stats() const override {
    PipelineStats stats;
    stats.batches = given_;
    stats.images = stats.batches * share_;
    stats.memory_bytes = memory_bytes_;
    return stats;
  }

  [[nodiscard]] std::int64_t memory_bytes() const override {
    return memory_bytes_;
  }

 private:
  std::int64_t batch_size_;  // of all ranks
  int share_;                // of this one
  std::int64_t batches_;     // of the stream; 0: no end
  std::int64_t memory_bytes_;
  StreamPosition position_;
  std::atomic<std::int64_t> given_{0};
  BatchPool pool_;
};

}  // namespace

std::unique_ptr<BatchStream> OpenInput(const RecordIndex* index,
                                       const InputOptions& options,
                                       const StreamPosition& start,
                                       HeldRecords held) {
  if (index == nullptr) {
    return std::make_unique<FakeData>(options, start);
  }
  if (held) {
    return std::make_unique<ResidentOrder>(*index, options, start,
                                           std::move(held));
  }
  return std::make_unique<InputPipeline>(*index, options, start);
}

int ThreadsOf(const RankPlace& place) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return place.local_world_size == 1
             ? 0
             : std::max(1, cores / place.local_world_size);
}

InputOptions PartOf(InputOptions input, const RankPlace& place) {
  input.rank = place.rank;
  input.world_size = place.world_size;
  input.local_world_size = place.local_world_size;
  input.threads = input.threads > 0 ? input.threads : ThreadsOf(place);
  if (!input.training) {
    input.batch_size +=
        (place.world_size - input.batch_size % place.world_size) %
        place.world_size;
  }
  return input;
}

void TakeClasses(const ClassMap& classes, InputOptions& input) {
  input.label_offset = classes.label_offset;
  if (!classes.to_model.empty()) {
    input.num_label_classes = static_cast<int>(classes.to_model.size());
  }
}

}  // namespace infeed
