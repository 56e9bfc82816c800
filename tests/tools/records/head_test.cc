#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/tools/records/run_verb.h"

namespace infeed::head_test {

// What the verb prints.
std::string Head(const std::string& arguments) {
  const VerbResult result = RunVerb("head " + arguments);
  EXPECT_EQ(result.code, ExitCode::kDone) << result.err;
  return result.out;
}

// The record of an image with integers under these keys.
std::string Record(
    const std::vector<std::pair<std::string, std::int64_t>>& labels) {
  std::vector<ExampleFeature> features = {
      {kImageKey, std::vector<std::string_view>{"damaged"}}};
  for (const auto& [key, label] : labels) {
    features.push_back({key, std::vector<std::int64_t>{label}});
  }
  return BuildExample(features);
}

TEST(HeadTest, ShowsTheLabelUnderWhateverKeyItIs) {
  const TemporaryFolder folder;
  RecordFile().Add(Record({{"target", 471}})).Write(folder / "a.tfrecord");
  RecordFile()
      .Add(Record({{std::string(kLabelKey), 582}}))
      .Write(folder / "b.tfrecord");
  RecordFile().Add(Record({{"fine", 693}})).Write(folder / "c.tfrecord");
  const std::string all = Head(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder / ".infeed"));  // no index
  EXPECT_THAT(all, HasSubstr(" 471 "));
  EXPECT_THAT(all, HasSubstr(" 582 "));
  EXPECT_THAT(all, Not(HasSubstr(" 693 ")));
  EXPECT_THAT(Head("--label_key fine " + (folder / "c.tfrecord")),
              HasSubstr(" 693 "));
}

TEST(HeadTest, ShowsRecordsWithTwoPossibleLabels) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.tfrecord";
  RecordFile().Add(Record({{"label", 471}, {"class", 582}})).Write(path);
  const VerbResult shown = RunVerb("head " + path);
  EXPECT_THAT(shown.err,
              HasSubstr("class and label may both be the label of its records: "
                        "give label_key="));
  EXPECT_THAT(shown.out, HasSubstr("a.tfrecord"));
  EXPECT_THAT(Head("--label_key class " + path), HasSubstr(" 582 "));
}

}  // namespace infeed::head_test
