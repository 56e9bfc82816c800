#include "trainer/feed/fake_data.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"

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

}  // namespace

bool IsFakeData(std::string_view data_dir) {
  return data_dir.empty() || data_dir == "null";
}

FakeData::FakeData(const InputOptions& options, const StreamPosition& start)
    : batch_size_(options.batch_size),
      share_(options.share()),
      batches_(options.training
                   ? 0
                   : (options.max_records * options.preprocess.crop.eval_crops +
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

BatchHandle FakeData::Next() {
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

PipelineStats FakeData::stats() const {
  PipelineStats stats;
  stats.batches = given_;
  stats.images = stats.batches * share_;
  stats.memory_bytes = memory_bytes_;
  return stats;
}

}  // namespace infeed
