#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "records/bytes/crc32c.h"
#include "records/example/imagenet_example.h"
#include "records/store/index_data.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "records/tfrecord/reader.h"
#include "records/tfrecord/writer.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

constexpr std::int64_t kRecordBytes = 110'000;  // ImageNet's mean
constexpr std::int64_t kRecords = 500;
constexpr std::int64_t kLargerThanCaches = std::int64_t{1} << 29;

using ExtendCrc32cFunction = std::uint32_t (*)(std::uint32_t,
                                               std::span<const std::byte>);

void BM_Crc32c(benchmark::State& state, ExtendCrc32cFunction extend) {
  if (extend == ExtendCrc32cHardware && !HasCrc32cInstruction()) {
    state.SkipWithError("the processor lacks the instruction");
    return;
  }
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(extend(0, bytes));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(64)
      ->Arg(256)
      ->Arg(4096)
      ->Arg(kRecordBytes)
      ->Arg(kLargerThanCaches);
}
BENCHMARK_CAPTURE(BM_Crc32c, Portable, ExtendCrc32cPortable)
    ->Arg(64)
    ->Arg(4096)
    ->Arg(kRecordBytes);
BENCHMARK_CAPTURE(BM_Crc32c, Hardware, ExtendCrc32cHardware)->Apply(Sizes);
BENCHMARK_CAPTURE(BM_Crc32c, Isal, ExtendCrc32cIsal)->Apply(Sizes);

// The yardstick for the checksum: the speed at which one core reads memory.
std::uint64_t SumOfWords(std::span<const std::byte> bytes) {
  std::array<std::uint64_t, 8> sums{};
  for (std::size_t i = 0; i + sizeof(sums) <= bytes.size(); i += sizeof(sums)) {
    std::array<std::uint64_t, 8> words{};
    std::memcpy(words.data(), bytes.data() + i, sizeof(words));
    for (std::size_t k = 0; k < words.size(); ++k) {
      sums[k] += words[k];
    }
  }
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

void BM_ReadMemory(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)),
                                     std::byte{1});
  for (auto _ : state) {
    benchmark::DoNotOptimize(SumOfWords(bytes));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReadMemory)->Arg(kRecordBytes)->Arg(kLargerThanCaches);

// A shard of records as large as ImageNet's, in the page cache.
class Shard {
 public:
  Shard() {
    TfrecordWriter writer(path());
    const std::string payload(kRecordBytes, 'x');
    for (std::int64_t i = 0; i < kRecords; ++i) {
      writer.Append(payload);
    }
    writer.Close();
  }
  [[nodiscard]] std::string path() const {
    return folder_ / "train-00000-of-00001";
  }

 private:
  TemporaryFolder folder_;
};

void BM_ReadInOrder(benchmark::State& state) {
  const Shard shard;
  const bool verify = state.range(0) != 0;
  for (auto _ : state) {
    TfrecordReader reader(shard.path(), {.verify_checksums = verify});
    while (const std::optional<Record> record = reader.Next()) {
      benchmark::DoNotOptimize(record->payload.data());
    }
  }
  state.SetBytesProcessed(state.iterations() * kRecords * kRecordBytes);
  state.SetItemsProcessed(state.iterations() * kRecords);
}
BENCHMARK(BM_ReadInOrder)->ArgName("verify")->Arg(0)->Arg(1);

void BM_ReadThroughTheIndex(benchmark::State& state) {
  const Shard shard;
  const RecordIndex index({shard.path()});
  const RecordStore store(index, {.verify_checksums = state.range(0) != 0});
  std::vector<std::byte> buffer;
  std::int64_t record = 0;
  for (auto _ : state) {
    record = (record + 211) % kRecords;  // Coprime: all, scattered.
    benchmark::DoNotOptimize(store.Read(record, buffer).data());
  }
  state.SetBytesProcessed(state.iterations() * kRecordBytes);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ReadThroughTheIndex)->ArgName("verify")->Arg(0)->Arg(1);

void BM_BuildTheIndex(benchmark::State& state) {
  const Shard shard;
  for (auto _ : state) {
    const RecordIndex index({shard.path()}, {.use_cache = false});
    benchmark::DoNotOptimize(index.size());
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
}
BENCHMARK(BM_BuildTheIndex);

// Folders of classes with empty files: to open a data set, they are listed.
void BM_IndexAFolderOfImages(benchmark::State& state) {
  constexpr int kClasses = 100;
  constexpr int kImages = 100;  // in each
  const TemporaryFolder folder;
  for (int i = 0; i < kClasses; ++i) {
    const std::string name = folder / ("train/" + std::to_string(i));
    std::filesystem::create_directories(name);
    for (int k = 0; k < kImages; ++k) {
      const std::ofstream file(name + "/" + std::to_string(k) + ".jpg");
    }
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(IndexSplit(folder.path(), "train")->size());
  }
  state.SetItemsProcessed(state.iterations() * kClasses * kImages);
}
BENCHMARK(BM_IndexAFolderOfImages)->UseRealTime();

void BM_ParseExample(benchmark::State& state) {
  const std::string jpeg(kRecordBytes, 'x');
  const std::string payload = BuildImagenetExample({.height = 375,
                                                    .width = 500,
                                                    .label = 1,
                                                    .synset = "n01440764",
                                                    .text = "tench",
                                                    .filename = "a.JPEG",
                                                    .encoded = jpeg});
  for (auto _ : state) {
    benchmark::DoNotOptimize(ParseImagenetExample(AsBytes(payload)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ParseExample);

}  // namespace
}  // namespace infeed
