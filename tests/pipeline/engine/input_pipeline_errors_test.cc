// Bad records: what ends the stream, and what is taken in their place.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/engine/input_pipeline.h"
#include "tests/support/matchers.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/throws.h"

namespace infeed::input_pipeline_errors_test {

constexpr int kRecords = 20;
constexpr std::int64_t kBad = 9;  // in the third batch, slot 1, of shard 0

// Evaluation in the records' own order: record i is at position i.
InputOptions OptionsFor(OnBadRecord policy) {
  InputOptions options = SmallEvaluation();
  options.on_bad_record = policy;
  return options;
}

// The message of the error that comes in place of the next batch.
std::string NextError(InputPipeline& pipeline) {
  return MessageOf<DataError>([&] { (void)pipeline.Next(); });
}

// One way for a record to be bad, and what is said of it.
struct Fault {
  std::string name;
  std::string payload;  // empty: the record's bytes are damaged instead
  std::string message;
};

std::vector<Fault> Faults() {
  const std::string good = TestPayload(kBad);
  return {{"checksum", "", "checksum"},
          {"example", "\xff\xff\xff", "Example"},
          {"truncated", PayloadWithImage("\xff\xd8\xff\xe0 cut", kBad), ""},
          {"not_an_image", PayloadWithImage("no image at all", kBad), ""},
          {"no_image", PayloadWithImage("", kBad), ""}};
}

std::unique_ptr<TestShards> ShardsWith(const Fault& fault) {
  std::vector<std::string> payloads = TestPayloads(kRecords);
  if (!fault.payload.empty()) {
    payloads[kBad] = fault.payload;
  }
  std::unique_ptr<TestShards> shards = std::make_unique<TestShards>(payloads);
  if (fault.payload.empty()) {
    shards->Damage(kBad);
  }
  return shards;
}

class BadRecordTest : public ::testing::TestWithParam<Fault> {
 protected:
  void SetUp() override { shards_ = ShardsWith(GetParam()); }
  [[nodiscard]] const RecordIndex& index() const { return shards_->index(); }

  std::unique_ptr<TestShards> shards_;
};

INSTANTIATE_TEST_SUITE_P(Faults, BadRecordTest, ::testing::ValuesIn(Faults()),
                         [](const auto& fault) { return fault.param.name; });

TEST_P(BadRecordTest, ABadRecordEndsTheStreamAfterTheBatchBeforeIt) {
  const std::string place = index().shards()[0] + ": record " +
                            std::to_string(kBad) + " at byte " +
                            std::to_string(index().at(kBad).offset) + ": ";
  for (const GraphKind graph : {GraphKind::kFlow, GraphKind::kBasic}) {
    InputOptions options = OptionsFor(OnBadRecord::kFail);
    options.graph = graph;
    InputPipeline pipeline(index(), options);
    EXPECT_THAT(LabelsOf(TakeBatches(pipeline, 2)),
                ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    for (int again = 0; again < 2; ++again) {
      EXPECT_THAT(NextError(pipeline),
                  AllOf(HasSubstr(place), HasSubstr(GetParam().message)));
    }
  }
}

TEST_P(BadRecordTest, TheSubstituteIsDrawnByThePosition) {
  InputPipeline pipeline(index(), OptionsFor(OnBadRecord::kReplace));
  const std::vector<std::int32_t> labels = LabelsOf(TakeBatches(pipeline, 100));
  SampleRandom draws({.seed = 7, .epoch = 0, .position = kBad},
                     RandomStream::kReplacement);
  std::int64_t substitute = draws.Below(kRecords);
  while (substitute == kBad) {
    substitute = draws.Below(kRecords);
  }
  for (std::int32_t i = 0; i < kRecords; ++i) {
    EXPECT_EQ(labels[static_cast<std::size_t>(i)], i == kBad ? substitute : i);
  }
  EXPECT_EQ(pipeline.stats().images, kRecords);
}

TEST_P(BadRecordTest, TheSubstituteIsTheSameForAnyThreadsRanksAndResume) {
  InputOptions options = OptionsFor(OnBadRecord::kReplace);
  const std::vector<BatchCopy> three = Stream(index(), options, 5);
  options.threads = 1;
  EXPECT_EQ(Stream(index(), options, 5), three);
  EXPECT_EQ(Stream(index(), options, 1, {0, 8}).front(), three[2]);
  options.world_size = 4;
  options.rank = 1;
  EXPECT_EQ(Stream(index(), options, 5)[2].labels[0], three[2].labels[1]);
}

// Data of which all but the first `good` records fail their checksum.
std::unique_ptr<TestShards> MostlyBad(std::int64_t good) {
  std::unique_ptr<TestShards> shards =
      std::make_unique<TestShards>(TestPayloads(kRecords));
  for (std::int64_t record = good; record < kRecords; ++record) {
    shards->Damage(record);
  }
  return shards;
}

TEST(BadRecordsTest, SixteenBadRecordsInARowEndTheStream) {
  const std::unique_ptr<TestShards> shards = MostlyBad(0);
  InputPipeline pipeline(shards->index(), OptionsFor(OnBadRecord::kReplace));
  EXPECT_THAT(NextError(pipeline),
              AllOf(HasSubstr("at byte "), HasSubstr("checksum"),
                    HasSubstr("the last of 16 bad records in a row")));
}

TEST(BadRecordsTest, AllBadRecordsAreSkippedOneByOne) {
  const std::unique_ptr<TestShards> shards = MostlyBad(4);
  InputPipeline pipeline(shards->index(), OptionsFor(OnBadRecord::kSkip));
  EXPECT_EQ(TakeBatches(pipeline, 100).size(), 5U);
  EXPECT_EQ(pipeline.stats().images, 4);
  EXPECT_EQ(pipeline.stats().bad_records, 16);
  EXPECT_THAT(pipeline.stats().first_bad_record, HasSubstr("record 4 at"));
}

TEST(BadRecordsTest, AnEvaluationNeedsAGoodRecord) {
  const std::unique_ptr<TestShards> shards = MostlyBad(0);
  InputOptions options = OptionsFor(OnBadRecord::kSkip);
  InputPipeline pipeline(shards->index(), options);
  EXPECT_EQ(TakeBatches(pipeline, 4).size(), 4U);
  EXPECT_THAT(NextError(pipeline),
              AllOf(HasSubstr("checksum"),
                    HasSubstr("no good record (20 of 20 samples")));
  options.require_labels = false;  // A prediction.
  EXPECT_EQ(Stream(shards->index(), options, 100).size(), 5U);
}

TEST(BadRecordsTest, AnEmptyDataSetIsRefused) {
  const TestShards shards({});
  EXPECT_THAT(MessageOf<UsageError>([&] {
                InputPipeline(shards.index(), OptionsFor(OnBadRecord::kSkip));
              }),
              HasSubstr("the data set has no records"));
}

TEST(BadRecordsTest, AnErrorThatNobodyReadsDoesNotKeepThePipeline) {
  const std::unique_ptr<TestShards> shards = MostlyBad(0);
  const InputPipeline pipeline(shards->index(), OptionsFor(OnBadRecord::kFail));
}

}  // namespace infeed::input_pipeline_errors_test
