#include "pipeline/slots/sample_loader.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "records/example/imagenet_example.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"

namespace infeed {
namespace {

constexpr std::int64_t kRecord = 1;

std::string PayloadWithoutLabel() {
  return BuildImagenetExample({.label = kNoLabel, .encoded = "JPEG"});
}

// Loads the second of two records.
class SampleLoaderTest : public ::testing::Test {
 protected:
  void Load(const TestShards& shards, RecordCache* cache = nullptr) {
    store_.emplace(shards.index());
    seek_store_.emplace(shards.index());
    seek_indexes_.emplace(options_.seek_index, *store_, *seek_store_, nullptr);
    loader_.emplace(*store_, *seek_indexes_, options_, counters_, cache);
    sample_.batch = &batch_;
    sample_.record = kRecord;
    loader_->Load(sample_);
  }

  // The error of the last Load(); empty: none.
  [[nodiscard]] std::string Failure() const {
    try {
      if (sample_.failure) {
        std::rethrow_exception(sample_.failure);
      }
      return "";
    } catch (const DataError& error) {
      return error.what();
    }
  }

  const InputOptions options_{.preprocess = {.image_size = 16},
                              .label_offset = 1};
  std::optional<RecordStore> store_;
  std::optional<SeekStore> seek_store_;
  std::optional<SeekIndexUse> seek_indexes_;
  std::optional<SampleLoader> loader_;
  StageCounters counters_;
  OpenBatch batch_;
  Sample sample_{options_};
};

TEST_F(SampleLoaderTest, ReadsVerifiesAndParsesARecord) {
  const TestShards shards(TestPayloads(2));
  Load(shards);
  EXPECT_EQ(Failure(), "");
  EXPECT_EQ(sample_.example.label, 2);
  EXPECT_FALSE(sample_.example.encoded.empty());
  EXPECT_NE(sample_.payload.crc32c, std::nullopt);
  const StageStats read = counters_.read.Read();
  EXPECT_EQ(read.items, 1);
  EXPECT_EQ(read.bytes, shards.index().at(kRecord).length);
}

TEST_F(SampleLoaderTest, AFailureNamesTheStepThatFailed) {
  const std::string good = TestPayload(0);
  Load(TestShards({good, "no Example"}));
  EXPECT_NE(Failure(), "");
  EXPECT_EQ(sample_.stage, BadRecordKind::kExample);
  Load(TestShards({good, PayloadWithoutLabel()}));
  EXPECT_NE(Failure(), "");
  EXPECT_EQ(sample_.stage, BadRecordKind::kLabel);
  Load(TestShards({good, good}));
  EXPECT_EQ(Failure(), "");
}

TEST_F(SampleLoaderTest, TheCacheKeepsWhatWasRead) {
  const TestShards shards(TestPayloads(2));
  RecordCache cache(64 << 20, 2);
  Load(shards, &cache);
  std::filesystem::remove_all(shards.folder());
  Load(shards, &cache);
  EXPECT_EQ(Failure(), "");
  EXPECT_EQ(sample_.example.label, 2);
  EXPECT_EQ(cache.stats().hits, 1);
}

TEST_F(SampleLoaderTest, PackedPixelsAreVerifiedLaterUnlessTheyAreCached) {
  const TestShards shards({PackedPayload(1, 16), PackedPayload(2, 16)});
  Load(shards);
  EXPECT_NE(sample_.payload.unverified_crc32c, std::nullopt);
  loader_->Verify(sample_);
  EXPECT_EQ(sample_.payload.unverified_crc32c, std::nullopt);
  RecordCache cache(64 << 20, 2);
  Load(shards, &cache);
  EXPECT_EQ(sample_.payload.unverified_crc32c, std::nullopt);
}

TEST_F(SampleLoaderTest, AWrongChecksumIsTheCauseOfALaterError) {
  TestShards shards({PackedPayload(1, 16), PackedPayload(2, 16)});
  const DataError later("bad pixels");
  Load(shards);
  EXPECT_THAT(loader_->CauseOf(later, sample_).what(), HasSubstr("bad pixels"));
  shards.Damage(kRecord);
  Load(shards);
  EXPECT_THAT(loader_->CauseOf(later, sample_).what(),
              HasSubstr("the payload's checksum"));
  EXPECT_EQ(sample_.stage, BadRecordKind::kFrame);
}

}  // namespace
}  // namespace infeed
