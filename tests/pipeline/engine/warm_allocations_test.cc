// A warm pipeline allocates nothing for a record: allocations, which can fail
// or wait for another thread, are over once the first batches are through.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/engine/input_pipeline.h"
#include "records/example/imagenet_example.h"
#include "tests/support/extra_feature.h"
#include "tests/support/shard_builder.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<std::int64_t> allocations = 0;

void Count() {
  if (counting.load(std::memory_order_relaxed)) {
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

// Sanitizers have an allocator of their own in this place.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// NOLINTBEGIN(*-reserved-identifier,*-dcl37-c,*-dcl51-cpp): glibc's names.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  Count();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  Count();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  Count();
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
}
// NOLINTEND(*-reserved-identifier,*-dcl37-c,*-dcl51-cpp)
#endif

namespace infeed {
namespace {

constexpr int kRecords = 128;
constexpr int kBatch = 64;
constexpr int kWarm = 20;
constexpr int kCounted = 40;
// Allocations per record: epochs' keys, and a batch's list of reads to come; a
// busy machine's threads add a few. One for each record would be 1.
constexpr double kMost = 0.5;

// Photographs of several sizes.
std::vector<std::string> Payloads() {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    const std::string jpeg = TestJpeg(
        {.width = 60 + record,
         .height = 190 - record,
         .subsampling = record % 2 == 0 ? Subsampling::k420 : Subsampling::k444,
         .seed = static_cast<std::uint64_t>(record) + 1});
    payloads.push_back(PayloadWithImage(jpeg, record + 1));
  }
  return payloads;
}

// Allocations of each record once a pipeline is warm.
double PerRecord(const RecordIndex& index, const InputOptions& options) {
  InputPipeline pipeline(index, options);
  for (int i = 0; i < kWarm; ++i) {
    (void)pipeline.Next();
  }
  allocations = 0;
  counting = true;
  for (int i = 0; i < kCounted; ++i) {
    (void)pipeline.Next();
  }
  counting = false;
  return static_cast<double>(allocations) / (kCounted * kBatch);
}

class WarmAllocationsTest : public ::testing::Test {
 protected:
  TestShards shards_{Payloads(), 3};
  InputOptions options_{.batch_size = kBatch,
                        .preprocess = {.image_size = 16},
                        .on_bad_record = OnBadRecord::kFail,
                        .threads = 2};
};

TEST_F(WarmAllocationsTest, BoxesAllocateNothing) {
  std::vector<std::string> payloads = Payloads();
  for (std::string& payload : payloads) {
    payload += ExtraFloats("objects/bbox", {0, 0, 1, 1, 0.5F, 0.5F, 1, 1}) +
               ExtraInt64s("objects/label", {1, 2});
  }
  const TestShards shards(payloads, 3);
  options_.objects = ObjectsPreset("tfds");
  EXPECT_LT(PerRecord(shards.index(), options_), kMost);
}

TEST_F(WarmAllocationsTest, FieldsAllocateNothing) {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    payloads.push_back(ExtraInt64s("ids", {1, 2, record}) +
                       ExtraBytes("raw", {"12345678"}) +
                       ExtraFloats("scores", {0.5F, 1}));
  }
  const TestShards shards(payloads, 3);
  options_.layout = BatchContent::kNone;
  const std::vector<std::int64_t> one;
  const std::vector<std::int64_t> four = {4};
  options_.fields = {
      {.key = "ids", .shape = four, .pad = std::string(8, '\0')},
      {.key = "raw",
       .kind = FeatureKind::kBytes,
       .shape = one,
       .type = ItemType::kFloat64,
       .is_raw = true},
      {.key = "gone", .shape = one, .absent = std::string(8, '\1')},
      {.key = "scores", .kind = FeatureKind::kFloat}};
  EXPECT_LT(PerRecord(shards.index(), options_), kMost);
}

TEST_F(WarmAllocationsTest, AllocationsAreCounted) {
  counting = true;
  ::operator delete(::operator new(4));
  counting = false;
  EXPECT_GE(allocations, 1);
}

TEST_F(WarmAllocationsTest, ARecordAllocatesNothing) {
  InputOptions basic = options_;
  basic.graph = GraphKind::kBasic;
  InputOptions cached = options_;
  cached.use_cache = true;
  InputOptions rgb = options_;
  rgb.layout = BatchContent::kRgb;
  for (const InputOptions& options : {options_, basic, cached, rgb}) {
    EXPECT_LT(PerRecord(shards_.index(), options), kMost)
        << ChoiceName(options.graph, kGraphKinds)
        << (options.use_cache ? " with a cache " : " ")
        << ChoiceName(options.layout, kLayouts);
  }
}

}  // namespace
}  // namespace infeed
