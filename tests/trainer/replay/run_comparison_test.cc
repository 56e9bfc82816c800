#include "trainer/replay/run_comparison.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/hash_text.h"
#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"
#include "tests/support/grey_png.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/replay/recorded_input.h"
#include "trainer/replay/sample_match.h"
#include "trainer/replay/shard_identities.h"
#include "trainer/results/metrics_log.h"
#include "trainer/results/model_dir.h"

namespace infeed::run_comparison_test {

constexpr int kShards = 2;
constexpr int kRecordsOfShard = 6;

// A record that differs from the usual data.
struct OtherRecord {
  int number = -1;  // of all records; -1: none
  int level = 0;    // added to its gray level
  std::string name_end = {};
  std::string text = "usual";  // image/class/text, which nothing reads
};

std::string Payload(int number, const OtherRecord& other) {
  const bool is_other = number == other.number;
  const std::vector<std::uint8_t> levels(
      24 * 24,
      static_cast<std::uint8_t>(10 * number + (is_other ? other.level : 0)));
  const std::string image = GreyPng(24, levels);
  ImagenetExample example;
  example.height = 24;
  example.width = 24;
  example.label = number % 3 + 1;
  example.filename =
      fmt::format("{}{}.png", number, is_other ? other.name_end : "");
  example.text = is_other ? other.text : "usual";
  example.encoded = image;
  example.format = "PNG";
  return BuildImagenetExample(example);
}

// Two shards of six records.
void WriteData(const std::string& folder, const OtherRecord& other = {}) {
  std::filesystem::create_directories(folder);
  for (int shard = 0; shard < kShards; ++shard) {
    RecordFile file;
    for (int i = 0; i < kRecordsOfShard; ++i) {
      file.Add(Payload(shard * kRecordsOfShard + i, other));
    }
    (void)file.Write(
        fmt::format("{}/train-{:05}-of-{:05}", folder, shard, kShards));
  }
}

// A recorded training: ten steps of four images, in loops of five steps.
struct MadeRun {
  std::string data_dir = {};
  std::string overrides = {};  // ",NAME=VALUE"
  std::vector<std::string> fingerprints = {"0000000000000001",
                                           "0000000000000002"};
  std::string version = "0.1.0";
  bool has_pixels = true;
};

void WriteRun(const std::string& folder, const MadeRun& run) {
  std::filesystem::create_directories(folder);
  const RunParams params = ReadParams(
      {.config_file = "",
       .overrides = {"train_batch_size=4,image_size=16,num_label_classes=3,"
                     "label_offset=1,recipe=plain,train_steps=10" +
                     run.overrides},
       .flags = {}});
  WriteFileAtomically(ParamsPath(folder), ToYaml(params));
  const RecordIndex index({run.data_dir + "/train-00000-of-00002",
                           run.data_dir + "/train-00001-of-00002"});
  MetricsLog log(folder);
  log.Write("start", 0,
            {{"batch_size", std::int64_t{4}},
             {"version", run.version},
             {"commit", std::string("abc")},
             {"data_dir", run.data_dir},
             {"data_identity", "train " + index.identity()},
             {"data_shards", ShardIdentities(index)}});
  std::int64_t step = 0;
  for (const std::string& fingerprint : run.fingerprints) {
    EventValues values = {{"input_fingerprint", fingerprint}};
    if (run.has_pixels) {
      values.push_back({"input_hash", std::string("pixels")});
    }
    log.Write("loop", step += 5, values);
  }
}

class RunComparisonTest : public testing::Test {
 protected:
  RunComparisonTest() { WriteData(data()); }

  [[nodiscard]] std::string data() const { return folder_ / "data"; }
  [[nodiscard]] std::string other_data() const { return folder_ / "other"; }

  // Compares two such runs; an empty data_dir is data().
  RunComparison Compare(MadeRun a, MadeRun b) {
    for (MadeRun* const run : {&a, &b}) {
      run->data_dir = run->data_dir.empty() ? data() : run->data_dir;
    }
    WriteRun(folder_ / "a", a);
    WriteRun(folder_ / "b", b);
    return CompareMade();
  }
  RunComparison CompareMade() {
    return CompareRuns(
        {.model_dir_a = folder_ / "a", .model_dir_b = folder_ / "b"});
  }

  TemporaryFolder folder_;
};

const std::vector<std::string> kOther = {"0000000000000007",
                                         "0000000000000008"};

std::vector<std::string> NamesOf(const std::vector<RunDifference>& all) {
  std::vector<std::string> names;
  for (const RunDifference& difference : all) {
    names.push_back(difference.name);
  }
  return names;
}

TEST_F(RunComparisonTest, EqualInputsSayTheirStepsAndWhatHadNoEffect) {
  const RunComparison comparison =
      Compare({.overrides = ",num_parallel_calls=1"},
              {.overrides = ",num_parallel_calls=2,keep_last=7",
               .fingerprints = {"0000000000000001", "0000000000000002",
                                "0000000000000003"}});
  EXPECT_TRUE(comparison.match.is_equal());
  EXPECT_EQ(comparison.match.equal_steps, 10);
  EXPECT_EQ(comparison.steps_a, 10);
  EXPECT_EQ(comparison.steps_b, 15);
  EXPECT_THAT(comparison.differences.of_input, IsEmpty());
  EXPECT_THAT(NamesOf(comparison.differences.others),
              ElementsAre("num_parallel_calls", "keep_last"));
  EXPECT_FALSE(comparison.sample);
  EXPECT_EQ(comparison.no_sample, "");
}

TEST_F(RunComparisonTest, ParametersOfTheDevicesInputAreNotWithoutEffect) {
  const RunComparison comparison = Compare(
      {}, {.overrides = ",channels=1,normalization=unit,mixup_alpha=0.2,"
                        "cutmix_alpha=1,label_smoothing=0.1"});
  EXPECT_TRUE(comparison.match.is_equal());
  EXPECT_THAT(comparison.differences.of_input, IsEmpty());
  EXPECT_THAT(
      NamesOf(comparison.differences.on_device),
      ElementsAre("channels", "normalization", "mixup_alpha", "cutmix_alpha"));
  EXPECT_THAT(NamesOf(comparison.differences.others),
              ElementsAre("label_smoothing"));
}

TEST_F(RunComparisonTest, AnotherOptionIsNamedWithASample) {
  const RunComparison comparison = Compare(
      {}, {.overrides = ",augment_name=randaugment", .fingerprints = kOther});
  EXPECT_EQ(comparison.match.equal_steps, 0);
  EXPECT_EQ(comparison.match.differs_by, 5);
  ASSERT_EQ(NamesOf(comparison.differences.of_input),
            std::vector<std::string>{"augment_name"});
  EXPECT_EQ(comparison.differences.of_input[0].a, "none");
  EXPECT_EQ(comparison.differences.of_input[0].b, "randaugment");
  EXPECT_THAT(comparison.differences.others, IsEmpty());
  ASSERT_TRUE(comparison.sample) << comparison.no_sample;
  const SampleDifference& sample = *comparison.sample;
  EXPECT_EQ(sample.step, 1);
  ASSERT_TRUE(sample.a && sample.b);
  EXPECT_EQ(sample.a->record, sample.b->record);
  EXPECT_THAT(sample.a->augmentations, IsEmpty());
  EXPECT_THAT(sample.b->augmentations, testing::Not(IsEmpty()));
}

TEST_F(RunComparisonTest, AnotherShardIsNamedWithASample) {
  WriteData(other_data(), {.number = 7, .name_end = "-renamed"});
  const RunComparison comparison =
      Compare({}, {.data_dir = other_data(), .fingerprints = kOther});
  EXPECT_EQ(NamesOf(comparison.differences.of_input),
            std::vector<std::string>{"data_identity"});
  EXPECT_EQ(comparison.differences.of_input[0].kind, DifferenceKind::kData);
  EXPECT_THAT(comparison.differences.shards, ElementsAre(1U));
  EXPECT_THAT(comparison.shard_names, ElementsAre("train-00001-of-00002"));
  ASSERT_TRUE(comparison.sample) << comparison.no_sample;
  ASSERT_TRUE(comparison.sample->a && comparison.sample->b);
  EXPECT_EQ(comparison.sample->a->file_name, "7.png");
  EXPECT_EQ(comparison.sample->b->file_name, "7-renamed.png");
  EXPECT_EQ(comparison.sample->b->number, 1);
  EXPECT_FALSE(comparison.sample->has_other_pixels);
}

// The identity of the data does not cover the bytes of its images.
TEST_F(RunComparisonTest, OtherPixelsAreFound) {
  WriteData(other_data(), {.number = 7, .level = 1});
  const RunComparison comparison =
      Compare({}, {.data_dir = other_data(), .fingerprints = kOther});
  EXPECT_THAT(comparison.differences.of_input, IsEmpty());
  ASSERT_TRUE(comparison.sample) << comparison.no_sample;
  EXPECT_TRUE(comparison.sample->has_other_pixels);
  EXPECT_EQ(comparison.sample->a->record, 7);
  EXPECT_LE(comparison.sample->step, 3);  // an epoch
}

TEST_F(RunComparisonTest, OtherBytesOfARecordAreFoundByItsFingerprint) {
  WriteData(other_data(), {.number = 7, .text = "other"});
  const RunComparison comparison = Compare(
      {.has_pixels = false},
      {.data_dir = other_data(), .fingerprints = kOther, .has_pixels = false});
  ASSERT_TRUE(comparison.sample) << comparison.no_sample;
  EXPECT_FALSE(comparison.sample->has_other_pixels);
  EXPECT_EQ(comparison.sample->a->record, 7);
  EXPECT_EQ(comparison.sample->b->record, 7);
  EXPECT_NE(comparison.sample->fingerprint_a, comparison.sample->fingerprint_b);
}

// The fingerprints say which run had the data as it is now.
TEST_F(RunComparisonTest, DataThatHasChangedSinceOneOfTheRunsIsItsOwn) {
  (void)Compare({}, {.fingerprints = kOther});
  const RecordedInput input(ReadRun(folder_ / "a"));
  const std::uint64_t fed =
      FindSampleDifference(input, input, 1, 5, [](std::int64_t) {}).fed;
  ASSERT_NE(fed, 0U);
  MetricsLog(folder_ / "b").Write("start", 0, {{"data_dir", data()}});
  MetricsLog(folder_ / "b")
      .Write("loop", 5,
             {{"input_fingerprint", HashText(fed)},
              {"input_hash", std::string("pixels")}});
  const RunComparison comparison = CompareMade();
  EXPECT_FALSE(comparison.sample);
  EXPECT_THAT(comparison.no_sample, HasSubstr("are those of B"));
}

TEST_F(RunComparisonTest, DataThatHasChangedSinceIsNotBlamedOnASample) {
  const RunComparison comparison =
      Compare({}, {.fingerprints = kOther, .version = "0.2.0"});
  EXPECT_FALSE(comparison.sample);
  EXPECT_THAT(comparison.no_sample, HasSubstr("but neither run's"));
  ASSERT_EQ(comparison.differences.of_input.size(), 1U);
  EXPECT_EQ(comparison.differences.of_input[0].kind, DifferenceKind::kVersion);
  EXPECT_EQ(comparison.differences.of_input[0].b, "0.2.0 (abc)");
}

TEST_F(RunComparisonTest, WithoutTheDataThereIsNoSample) {
  (void)Compare({}, {.overrides = ",seed=1", .fingerprints = kOther});
  std::filesystem::rename(data(), folder_ / "moved");
  RunComparison comparison = CompareMade();
  EXPECT_FALSE(comparison.sample);
  EXPECT_THAT(comparison.no_sample, HasSubstr(data()));
  EXPECT_EQ(NamesOf(comparison.differences.of_input),
            std::vector<std::string>{"seed"});
  comparison = CompareRuns({.model_dir_a = folder_ / "a",
                            .model_dir_b = folder_ / "b",
                            .data_dir_a = folder_ / "moved",
                            .data_dir_b = folder_ / "moved"});
  EXPECT_TRUE(comparison.sample) << comparison.no_sample;
}

// A run that was resumed at step 5 made the later steps again.
TEST_F(RunComparisonTest, StepsOfALaterStartReplaceTheEarlierOnes) {
  (void)Compare({}, {.fingerprints = {"0000000000000001", "0000000000000008"}});
  EXPECT_FALSE(CompareMade().match.is_equal());
  MetricsLog log(folder_ / "b");
  log.Write("start", 5, {{"version", std::string("0.3.0")}});
  log.Write("loop", 10,
            {{"input_fingerprint", std::string("0000000000000002")},
             {"input_hash", std::string("pixels")}});
  const RunComparison comparison = CompareMade();
  EXPECT_TRUE(comparison.match.is_equal());
  EXPECT_EQ(comparison.match.equal_steps, 10);
  EXPECT_EQ(comparison.differences.of_input.back().b, "0.3.0");
}

TEST_F(RunComparisonTest, RunsWithoutFingerprintsAreRefused) {
  WriteRun(folder_ / "a", {.data_dir = data()});
  WriteRun(folder_ / "b", {.data_dir = data(), .fingerprints = {}});
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)CompareMade(); }),
              testing::AllOf(HasSubstr(folder_ / "b"),
                             HasSubstr("no input_fingerprint")));
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)CompareRuns({.model_dir_a = folder_ / "a",
                                   .model_dir_b = folder_ / "none"});
              }),
              HasSubstr("no run is recorded"));
}

TEST_F(RunComparisonTest, RunsOnFakeDataAreRefused) {
  WriteRun(folder_ / "a", {.data_dir = data()});
  WriteRun(folder_ / "b", {.data_dir = data(), .fingerprints = {}});
  MetricsLog(folder_ / "b")
      .Write("start", 0, {{"data_dir", std::string("null")}});
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)CompareMade(); }),
              HasSubstr("model_dir=" + (folder_ / "b") +
                        ": the run was trained on fake data"));
}

}  // namespace infeed::run_comparison_test
