#include "pipeline/reading/record_cache.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Keep(RecordCache& cache, std::int64_t record, const std::string& payload,
          std::optional<std::uint32_t> crc32c = {},
          const std::string& index = {}) {
  cache.Keep(record, {.payload = {.bytes = AsBytes(payload),
                                  .crc32c = crc32c,
                                  .stored_crc = crc32c},
                      .seek_index = AsBytes(index)});
}

TEST(RecordCacheTest, ReturnsWhatItKeeps) {
  RecordCache cache(64 * kMebibyte, 3);
  EXPECT_FALSE(cache.Find(1).has_value());
  Keep(cache, 1, "payload", 7, "index");
  Keep(cache, 2, "");
  EXPECT_TRUE(cache.Has(1));
  EXPECT_FALSE(cache.Has(0));
  const CachedRecord first = cache.Find(1).value();
  EXPECT_EQ(TextOf(first.payload.bytes), "payload");
  EXPECT_EQ(first.payload.crc32c, 7U);
  EXPECT_EQ(first.payload.stored_crc, 7U);
  EXPECT_EQ(TextOf(first.seek_index), "index");
  const CachedRecord second = cache.Find(2).value();
  EXPECT_TRUE(second.payload.bytes.empty());
  EXPECT_FALSE(second.payload.crc32c.has_value());
  EXPECT_TRUE(second.seek_index.empty());
}

TEST(RecordCacheTest, KeepsTheFirstOfARecord) {
  RecordCache cache(64 * kMebibyte, 1);
  Keep(cache, 0, "first");
  const std::byte* const place = cache.Find(0)->payload.bytes.data();
  Keep(cache, 0, "second");
  EXPECT_EQ(cache.Find(0)->payload.bytes.data(), place);
  EXPECT_EQ(TextOf(cache.Find(0)->payload.bytes), "first");
}

TEST(RecordCacheTest, KeepsWhatFitsAndTheSmallThatStillDo) {
  RecordCache cache(17 * kMebibyte, 4);  // A chunk of 16 MiB and the table.
  const std::string large(10 * kMebibyte, 'a');
  Keep(cache, 0, large);
  Keep(cache, 1, large);
  Keep(cache, 2, std::string(5 * kMebibyte, 'b'));
  Keep(cache, 3, std::string(5 * kMebibyte, 'c'));
  EXPECT_TRUE(cache.Has(0));
  EXPECT_FALSE(cache.Has(1));
  EXPECT_TRUE(cache.Has(2));
  EXPECT_FALSE(cache.Has(3));
  EXPECT_EQ(TextOf(cache.Find(0)->payload.bytes), large);
  const RecordCacheStats stats = cache.stats();
  EXPECT_EQ(stats.records, 2);
  EXPECT_EQ(stats.limit_bytes, 17 * kMebibyte);
  EXPECT_LE(stats.bytes, stats.limit_bytes);
  EXPECT_GE(stats.bytes, 15 * kMebibyte);
  EXPECT_EQ(stats.hits, 1);
}

TEST(RecordCacheTest, KeepsARecordThatIsLargerThanAChunk) {
  RecordCache cache(64 * kMebibyte, 1);
  const std::string huge(20 * kMebibyte, 'x');
  Keep(cache, 0, huge);
  EXPECT_EQ(TextOf(cache.Find(0)->payload.bytes), huge);
}

TEST(RecordCacheTest, KeepsNothingWithoutRoom) {
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{4096}}) {
    RecordCache cache(limit, 10'000);
    Keep(cache, 5, "payload");
    EXPECT_FALSE(cache.Has(5));
    EXPECT_FALSE(cache.Find(5).has_value());
    EXPECT_EQ(cache.stats().bytes, 0);
  }
}

TEST(RecordCacheTest, TakesRecordsFromSeveralThreads) {
  constexpr int kRecords = 2000;
  RecordCache cache(64 * kMebibyte, kRecords);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int record = 0; record < kRecords; ++record) {
        Keep(cache, record, std::to_string(record));
        EXPECT_EQ(TextOf(cache.Find(record)->payload.bytes),
                  std::to_string(record));
      }
    });
  }
}

}  // namespace
}  // namespace infeed
