// A data set of which three records in a hundred are damaged, in five ways.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "pipeline/engine/input_pipeline.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/throws.h"

namespace infeed::damaged_shards_test {

using Json = nlohmann::json;

constexpr int kRecords = 200;
constexpr int kBatch = 8;
const std::vector<std::int64_t> kDamaged = {11, 37, 90, 91, 140, 199};
const std::vector<std::string> kKinds = {"frame", "frame", "example",
                                         "image", "image", "image"};

std::vector<std::string> Payloads() {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  const std::string jpeg = TestJpeg({.width = 40, .height = 36});
  payloads[90] = "\xff\xff\xff";
  payloads[91] = PayloadWithImage(jpeg.substr(0, jpeg.size() * 3 / 4), 91);
  payloads[140] = PayloadWithImage(TestJpeg({.width = 80, .height = 80}), 140);
  payloads[199] = PayloadWithImage("no image at all", 199);
  return payloads;
}

class DamagedShardsTest : public ::testing::Test {
 protected:
  DamagedShardsTest() {
    shards_.Damage(11);
    shards_.DamageHeader(37);
  }
  [[nodiscard]] const RecordIndex& index() const { return shards_.index(); }

  [[nodiscard]] InputOptions OptionsFor(OnBadRecord policy) const {
    return {.batch_size = kBatch,
            .preprocess = {.image_size = 8, .limits = {.max_pixels = 50 * 50}},
            .training = false,
            .shuffle = Shuffle::kNone,
            .seed = 5,
            .on_bad_record = policy,
            .threads = 3,
            .bad_record_report = report_path()};
  }
  [[nodiscard]] std::string report_path() const { return folder_ / "bad"; }

  // The report's lines; the file is then gone.
  [[nodiscard]] std::vector<Json> TakeReport() const {
    std::vector<Json> lines;
    const std::string text = ReadWholeFile(report_path(), 1 << 20);
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      lines.push_back(Json::parse(text.substr(at, text.find('\n', at) - at)));
    }
    std::filesystem::remove(report_path());
    return lines;
  }

  // The place of a record that a line must have.
  void ExpectPlace(const Json& line, std::int64_t record) const {
    const RecordLocation place = index().at(record);
    EXPECT_EQ(line.at("file"),
              index().shards()[static_cast<std::size_t>(place.shard)]);
    EXPECT_EQ(line.at("record"), place.number);
    EXPECT_EQ(line.at("offset"), place.offset);
  }

  TemporaryFolder folder_;
  TestShards shards_{Payloads(), 3};
};

TEST_F(DamagedShardsTest, DamageMovesNoGoodRecord) {
  const TestShards whole(TestPayloads(kRecords), 3);
  for (const OnBadRecord policy : {OnBadRecord::kSkip, OnBadRecord::kReplace}) {
    const std::vector<BatchCopy> batches =
        Stream(index(), OptionsFor(policy), kRecords);
    const std::vector<BatchCopy> intact =
        Stream(whole.index(), OptionsFor(policy), kRecords);
    ASSERT_EQ(batches.size(), intact.size());
    for (std::size_t i = 0; i < kRecords; ++i) {
      const BatchCopy& batch = batches[i / kBatch];
      const BatchCopy& good = intact[i / kBatch];
      const bool is_damaged = std::ranges::count(kDamaged, i) > 0;
      const std::size_t slot = i % kBatch;
      EXPECT_EQ(batch.weights[slot],
                is_damaged && policy == OnBadRecord::kSkip ? 0 : 1);
      const auto pixels = [slot](const BatchCopy& of) {
        return std::vector(of.pixels.begin() + slot * 64,
                           of.pixels.begin() + (slot + 1) * 64);
      };
      EXPECT_EQ(batch.labels[slot] == good.labels[slot], !is_damaged) << i;
      EXPECT_EQ(pixels(batch) == pixels(good), !is_damaged) << i;
      if (batch.weights[slot] == 0) {
        EXPECT_EQ(batch.labels[slot], -1);
        EXPECT_THAT(pixels(batch), Each(0U));
      }
    }
  }
}

TEST_F(DamagedShardsTest, EachDamagedRecordIsReported) {
  for (const OnBadRecord policy : {OnBadRecord::kSkip, OnBadRecord::kReplace}) {
    (void)Stream(index(), OptionsFor(policy), kRecords);
    std::vector<Json> own;  // Without those that were drawn as substitutes.
    for (const Json& line : TakeReport()) {
      if (!line.contains("draw")) {
        own.push_back(line);
      }
    }
    ASSERT_EQ(own.size(), kDamaged.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      ExpectPlace(own[i], kDamaged[i]);
      EXPECT_EQ(own[i].at("epoch"), 0);
      EXPECT_EQ(own[i].at("position"), kDamaged[i]);
      EXPECT_EQ(own[i].at("kind"), kKinds[i]);
      EXPECT_EQ(own[i].at("action"),
                policy == OnBadRecord::kSkip ? "skipped" : "replaced");
      EXPECT_EQ(own[i].contains("by"), policy == OnBadRecord::kReplace);
      EXPECT_NE(own[i].at("reason"), "");
    }
  }
}

TEST_F(DamagedShardsTest, TheFirstDamagedRecordEndsTheStream) {
  for (const int threads : {1, 4}) {
    InputOptions options = OptionsFor(OnBadRecord::kFail);
    options.threads = threads;
    InputPipeline pipeline(index(), options);
    ASSERT_NE(pipeline.Next(), nullptr);
    EXPECT_THAT(MessageOf<DataError>([&] { (void)pipeline.Next(); }),
                AllOf(HasSubstr("record 11 at byte"), HasSubstr("checksum")));
    const std::vector<Json> report = TakeReport();
    ASSERT_EQ(report.size(), 1U);
    ExpectPlace(report[0], 11);
    EXPECT_EQ(report[0].at("action"), "failed");
  }
}

// How a stream ends: its batches, its error, its report.
struct End {
  std::size_t batches = 0;
  std::string error;
  std::vector<Json> report;

  friend bool operator==(const End&, const End&) = default;
};

TEST_F(DamagedShardsTest, TheBudgetEndsTheStreamForAnyNumberOfThreads) {
  for (const auto& [number, rate] :
       std::vector<std::pair<int, double>>{{2, 1.0}, {0, 1.0}, {-1, 0.02}}) {
    std::optional<End> first;
    for (const int threads : {1, 2, 4}) {
      InputOptions options = OptionsFor(OnBadRecord::kReplace);
      options.training = true;
      options.shuffle = Shuffle::kGlobal;
      options.max_bad_records = number;
      options.max_bad_rate = rate;
      options.threads = threads;
      InputPipeline pipeline(index(), options);
      End end;
      end.error = MessageOf<DataError>([&] {
        while (pipeline.Next() != nullptr) {
          ++end.batches;
        }
      });
      end.report = TakeReport();
      EXPECT_THAT(end.error, HasSubstr(rate < 1 ? "max_bad_rate 0.02"
                                                : "max_bad_records"));
      EXPECT_EQ(first.value_or(end), end) << threads << " threads";
      first = end;
    }
    EXPECT_EQ(first->report.size(),
              number < 0 ? 6U : static_cast<std::size_t>(number) + 1);
  }
}

TEST_F(DamagedShardsTest, EachRankReportsItsDamagedRecords) {
  InputOptions options = OptionsFor(OnBadRecord::kSkip);
  options.world_size = 2;
  options.rank = 1;
  (void)Stream(index(), options, kRecords);
  EXPECT_FALSE(std::filesystem::exists(report_path()));
  // 37 is in slot 5 of 8 and 199 in slot 7, the second half.
  const std::string text = ReadWholeFile(report_path() + ".rank1", 10000);
  EXPECT_THAT(text, AllOf(HasSubstr(R"("position":37,)"),
                          HasSubstr(R"("position":199,)")));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);  // And 140, in slot 4.
}

TEST_F(DamagedShardsTest, TruncatedImagesAreUsedWhereWarningsAreTolerated) {
  InputOptions options = OptionsFor(OnBadRecord::kSkip);
  options.preprocess.lenient = true;
  InputPipeline pipeline(index(), options);
  const std::vector<BatchCopy> batches = TakeBatches(pipeline, kRecords);
  EXPECT_EQ(batches[91 / kBatch].weights[91 % kBatch], 1);
  EXPECT_EQ(batches[91 / kBatch].labels[91 % kBatch], 91);
  const BadRecordTotals totals = pipeline.stats().bad_record_totals;
  EXPECT_EQ(totals.met(), 5);
  EXPECT_EQ(totals.warnings, 1);
  EXPECT_THAT(totals.first_warning,
              AllOf(HasSubstr("train-00001-of-00003: record 25 at byte"),
                    HasSubstr("Premature end of JPEG file")));
  const std::vector<Json> report = TakeReport();
  ASSERT_EQ(report.size(), 6U);
  ExpectPlace(report[3], 91);
  EXPECT_EQ(report[3].at("kind"), "warning");
  EXPECT_EQ(report[3].at("action"), "used");
  EXPECT_EQ(report[3].at("reason"), "Premature end of JPEG file");
}

}  // namespace infeed::damaged_shards_test
