// Compares the pipeline with a plain copy when images are already packed:
// records in the page cache through the whole pipeline with one thread, and
// memcpy of the same number of slots to an equal pool, in turns. Prints GB per
// second of CPU time, which does not include other programs' work.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/common/in_turns.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/memory/page_memory.h"
#include "pipeline/stats/process_usage.h"
#include "records/example/builder.h"
#include "records/tfrecord/writer.h"

namespace infeed {
namespace {

constexpr int kSize = 224;
constexpr int kBatch = 64;
constexpr std::size_t kSlotBytes = std::size_t{4} * kSize * kSize;
constexpr int kEpochs = 4;

void MakeRecords(const std::string& path, int records) {
  TfrecordWriter writer(path);
  std::string pixels(kSlotBytes, '\0');
  for (int record = 0; record < records; ++record) {
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      pixels[i] = i % 4 == 0 ? '\0' : static_cast<char>(i * 31 + record);
    }
    ImagenetExample example;
    example.height = kSize;
    example.width = kSize;
    example.label = record % 1000 + 1;
    example.format = "packed";
    example.packed = pixels;
    const ExampleParts parts = BuildExampleParts(example);
    writer.AppendParts({parts.before, parts.image, parts.after});
  }
  writer.Close();
}

// Copies as many slots as the pipeline fills, from places all over a buffer.
class PlainCopy {
 public:
  explicit PlainCopy(int records)
      : records_(static_cast<std::size_t>(records)),
        source_(records_ * kSlotBytes),
        pool_(3, {.size = kBatch, .image_size = kSize}) {
    std::ranges::fill(source_.bytes(), std::byte{1});
  }

  double operator()() {
    const double start = CpuSeconds();
    for (std::size_t i = 0; i < kEpochs * records_ / kBatch; ++i) {
      const BatchHandle batch = pool_.Take();
      for (int slot = 0; slot < kBatch; ++slot) {
        place_ = (place_ + 7919) % records_;
        std::memcpy(batch->slot_pixels(slot).data(),
                    source_.bytes().data() + place_ * kSlotBytes, kSlotBytes);
      }
    }
    return CpuSeconds() - start;
  }

 private:
  std::size_t records_;
  PageMemory source_;
  BatchPool pool_;
  std::size_t place_ = 0;
};

// Measures all epochs but the first, which touches the memory and fills the
// cache.
double RunPipeline(const RecordIndex& index, const InputOptions& options) {
  InputPipeline pipeline(index, options);
  for (std::int64_t i = 0; i < pipeline.batches_per_epoch(); ++i) {
    (void)pipeline.Next();
  }
  const double start = CpuSeconds();
  while (pipeline.Next() != nullptr) {
  }
  return CpuSeconds() - start;
}

void Compare(const std::string& path, int records, int turns) {
  const RecordIndex index({path}, {.use_cache = false});
  PlainCopy copy(records);
  const InputOptions options{
      .batch_size = kBatch, .repeat = kEpochs + 1, .threads = 1};
  InputOptions unchecked = options;
  unchecked.verify_checksums = false;
  InputOptions cached = options;
  cached.use_cache = true;
  InputOptions read = options;
  read.map_files = false;
  InputOptions near = options;
  near.prefetch_batches = 0;
  InputOptions basic = options;
  basic.graph = GraphKind::kBasic;
  const auto run = [&](const InputOptions& input) {
    return [&index, &input](std::size_t) { return RunPipeline(index, input); };
  };
  const std::vector<Contender> contenders = {
      {"memcpy", [&](std::size_t) { return copy(); }},
      {"pipeline", run(options)},
      {"  map_files=false", run(read)},
      {"  prefetch_batches=0", run(near)},
      {"  graph=basic", run(basic)},
      {"  use_cache", run(cached)},
      {"  verify_checksums=false", run(unchecked)}};
  const std::vector<TaskTimes> times =
      MeasureInTurns(contenders, {.tasks = 1, .repetitions = turns});
  const double images = static_cast<double>(kEpochs) * records;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const double seconds = times[i][0] * 1e-6;
    fmt::print("{:26} {:8.0f} images/s {:7.2f} GB/s {:6.2f} of memcpy\n",
               contenders[i].name, images / seconds,
               images * kSlotBytes / seconds * 1e-9, times[0][0] / times[i][0]);
  }
}

}  // namespace
}  // namespace infeed

// usage: packed_bench [RECORDS [TURNS]]
int main(int argc, char** argv) {
  const int records = argc > 1 ? std::atoi(argv[1]) : 2048;
  const int turns = argc > 2 ? std::atoi(argv[2]) : 5;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("packed_bench-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "train-00000-of-00001").string();
  infeed::MakeRecords(path, records);
  infeed::Compare(path, records, turns);
  std::filesystem::remove_all(folder);
  return 0;
}
