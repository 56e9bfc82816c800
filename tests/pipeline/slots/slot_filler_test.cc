// The stages' bodies in plain threads, where ThreadSanitizer can watch them.

#include "pipeline/slots/slot_filler.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "pipeline/memory/batch_pool.h"
#include "pipeline/stats/trace_log.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kRecords = 16;
const InputOptions kOptions{.batch_size = kRecords,
                            .preprocess = {.image_size = 16},
                            .seed = 3,
                            .on_bad_record = OnBadRecord::kReplace,
                            .label_offset = 1,
                            .threads = 4};

// Records of 16 x 16 packed pixels.
std::vector<std::string> PackedPayloads() {
  std::vector<std::string> payloads;
  for (int record = 0; record < kRecords; ++record) {
    payloads.push_back(PackedPayload(record, 16));
  }
  return payloads;
}

// Fills one batch with all records, each thread taking the next slot.
class SlotFillerTest : public ::testing::Test {
 protected:
  BatchCopy Fill(const InputOptions& options) {
    return Fill(shards_.index(), options);
  }

  BatchCopy Fill(const RecordIndex& index, const InputOptions& options,
                 const RecordStoreOptions& store_options = {}) {
    const RecordStore store(index, store_options);
    const SeekStore seek_store(index);
    SlotFiller filler(store, seek_store, kRecords, options, counters_);
    BatchPool pool(
        1, {.size = kRecords, .image_size = options.preprocess.image_size});
    OpenBatch open;
    Begin(options, pool, open);
    FillSlots(filler, open);
    bad_records_.assign(open.BadRecords().begin(), open.BadRecords().end());
    error_ = open.error();
    return CopyOf(*open.TakeBatch());
  }

  // Makes `open` the stream's first batch.
  static void Begin(const InputOptions& options, BatchPool& pool,
                    OpenBatch& open) {
    BatchSequence sequence(kRecords, options, {});
    const SampleOrder order(kRecords, options.shuffle, options.seed);
    CurrentEpoch epoch(order);
    open.Begin(0, WithRecords(sequence.Next().value(), epoch), pool.Take());
  }

  static void FillSlots(SlotFiller& filler, OpenBatch& open) {
    std::atomic<int> next_slot{0};
    std::vector<std::jthread> workers;
    for (int i = 0; i < filler.options().threads; ++i) {
      workers.emplace_back([&] {
        Sample sample(filler.options());
        sample.batch = &open;
        while ((sample.slot = next_slot++) < kRecords) {
          sample.StartNow();
          filler.Read(sample);
          filler.Fill(sample);
        }
      });
    }
  }

  TestShards shards_{TestPayloads(kRecords)};
  StageCounters counters_;
  std::vector<BadRecord> bad_records_;
  std::exception_ptr error_;
};

TEST_F(SlotFillerTest, FillsABatchFromManyThreads) {
  EXPECT_EQ(Fill(kOptions), PlainStream(shards_.index(), kOptions, 1).front());
  EXPECT_TRUE(bad_records_.empty());
}

TEST_F(SlotFillerTest, ReplacesFromManyThreads) {
  for (std::int64_t record = 0; record < 8; ++record) {
    shards_.Damage(record);
  }
  const BatchCopy many = Fill(kOptions);
  InputOptions single = kOptions;
  single.threads = 1;
  EXPECT_EQ(Fill(single), many);
  EXPECT_THAT(many.labels, ::testing::Each(::testing::Ge(8)));
  EXPECT_GE(bad_records_.size(), 8U);
}

// A shard becomes shorter after a worker has found its record, and before the
// image is decoded. Without checksums nothing else would notice.
TEST_F(SlotFillerTest, AMappedRecordThatIsLostIsReadAgain) {
  InputOptions options = kOptions;
  options.on_bad_record = OnBadRecord::kSkip;
  options.shuffle = Shuffle::kNone;
  for (const bool verify : {false, true}) {
    const TestShards shards(TestPayloads(kRecords), 1);
    const RecordStore store(shards.index(),
                            {.verify_checksums = verify, .map_files = true});
    const SeekStore seek_store(shards.index());
    SlotFiller filler(store, seek_store, kRecords, options, counters_);
    BatchPool pool(
        1, {.size = kRecords, .image_size = options.preprocess.image_size});
    OpenBatch open;
    Begin(options, pool, open);
    std::vector<std::unique_ptr<Sample>> samples;
    for (int slot = 0; slot < kRecords; ++slot) {
      samples.push_back(std::make_unique<Sample>(options));
      samples.back()->batch = &open;
      samples.back()->slot = slot;
      samples.back()->start = samples.back()->since =
          StageCounter::Clock::now();
      filler.Read(*samples.back());
    }
    // Within the record 8: the pages after it are gone.
    std::filesystem::resize_file(
        shards.index().shards()[0],
        static_cast<std::uintmax_t>(shards.index().at(8).offset) + 20);
    for (const auto& sample : samples) {
      filler.Fill(*sample);
    }
    const std::span<const BadRecord> bad = open.BadRecords();
    ASSERT_EQ(bad.size(), 8U);
    EXPECT_THAT(bad[0].error.what(), ::testing::HasSubstr("truncated record"));
    // Nothing waited: the second read begins anew.
    EXPECT_EQ(counters_.read.Read().wait_seconds, 0);
    const BatchCopy batch = CopyOf(*open.TakeBatch());
    const BatchCopy whole = PlainStream(shards_.index(), options, 1).front();
    const auto half = static_cast<std::ptrdiff_t>(whole.pixels.size() / 2);
    EXPECT_TRUE(std::equal(whole.pixels.begin(), whole.pixels.begin() + half,
                           batch.pixels.begin()));
  }
}

// A record is verified after its Example was parsed, and packed pixels while
// they are copied: damage anywhere is still a wrong checksum.
TEST_F(SlotFillerTest, DamageAnywhereIsAWrongChecksum) {
  InputOptions options = kOptions;
  options.on_bad_record = OnBadRecord::kSkip;
  options.shuffle = Shuffle::kNone;
  for (const auto& payloads : {TestPayloads(kRecords), PackedPayloads()}) {
    TestShards shards(payloads, 1);
    const std::int64_t bytes = shards.index().at(8).length;
    for (std::int64_t byte = 0; byte < bytes;
         byte += byte < 64 || byte > bytes - 128 ? 1 : 61) {
      shards.Damage(8, byte);
      for (const bool map_files : {false, true}) {
        const BatchCopy batch =
            Fill(shards.index(), options, {.map_files = map_files});
        ASSERT_EQ(bad_records_.size(), 1U) << byte;
        EXPECT_EQ(bad_records_[0].kind, BadRecordKind::kFrame) << byte;
        EXPECT_THAT(bad_records_[0].error.what(),
                    ::testing::HasSubstr("the payload's checksum"));
        EXPECT_EQ(batch.weights[8], 0);
        EXPECT_EQ(batch.labels[8], -1);
      }
      shards.Damage(8, byte);  // Mends it.
    }
    (void)Fill(shards.index(), options);
    EXPECT_TRUE(bad_records_.empty());
  }
}

TEST_F(SlotFillerTest, PackedPixelsOfAnotherSizeAreABadImage) {
  InputOptions options = kOptions;
  options.on_bad_record = OnBadRecord::kSkip;
  options.preprocess.image_size = 8;
  const TestShards shards(PackedPayloads(), 1);
  (void)Fill(shards.index(), options);
  ASSERT_EQ(bad_records_.size(), std::size_t{kRecords});
  EXPECT_EQ(bad_records_[0].kind, BadRecordKind::kImage);
}

TEST_F(SlotFillerTest, CountsBytesOfEachStageInItsUnit) {
  (void)Fill(kOptions);
  std::int64_t encoded = 0;
  for (std::int64_t record = 0; record < kRecords; ++record) {
    encoded += shards_.index().at(record).length;
  }
  const std::vector<StageStats> stages = counters_.Read();
  EXPECT_EQ(stages[1].bytes, encoded);
  EXPECT_GT(stages[2].bytes, 0);
  EXPECT_EQ(stages[2].bytes % 3, 0);
  EXPECT_EQ(stages[3].bytes, kRecords * 16 * 16 * 4);
}

}  // namespace
}  // namespace infeed
