#include "trainer/results/prediction_log.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

using nlohmann::json;

// Two images of a model of two classes: "cat" (0) and "dog".
Predictions TwoImages() {
  return {.top = 2,
          .classes = {1, 0, 0, 1},
          .probabilities = {0.9F, 0.1F, 0.6F, 0.4F},
          .labels = {1, -2},
          .weights = {1, 1}};
}

class PredictionLogTest : public testing::Test {
 protected:
  [[nodiscard]] PredictionLog Log(const RecordIndex& index,
                                  std::int64_t images) {
    return {&index, images, 2, labels_, out_.get()};
  }
  [[nodiscard]] std::vector<json> Lines() const {
    std::vector<json> lines;
    std::istringstream text(ReadWholeFile(folder_ / "out", 1 << 20));
    for (std::string line; std::getline(text, line);) {
      lines.push_back(json::parse(line));
    }
    return lines;
  }

  TemporaryFolder folder_;
  const ModelLabels labels_{{"cat", "dog"}};
  const RecordIndex four_ =
      RecordIndex::OfImages({{"a.jpg"}, {"b.jpg"}, {"c.jpg"}, {"d.jpg"}});
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out_{
      std::fopen((folder_ / "out").c_str(), "w"), &std::fclose};
};

TEST_F(PredictionLogTest, WritesALineForEachImage) {
  const RecordIndex index = RecordIndex::OfImages({{"a.jpg"}, {"b\xff.jpg"}});
  PredictionLog log = Log(index, 2);
  log.Add(TwoImages());
  const std::vector<json> lines = Lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], json::parse(R"({
      "file": "a.jpg", "label": "dog", "index": 1, "probability": 0.9,
      "true_label": "dog", "true_index": 1,
      "top_5": [{"label": "dog", "index": 1, "probability": 0.9},
                {"label": "cat", "index": 0, "probability": 0.1}]})"));
  EXPECT_EQ(lines[1], json::parse(R"({
      "file": "b\\xff.jpg", "label": "cat", "index": 0, "probability": 0.6,
      "top_5": [{"label": "cat", "index": 0, "probability": 0.6},
                {"label": "dog", "index": 1, "probability": 0.4}]})"));
  EXPECT_EQ(log.counts().images, 2);
  EXPECT_EQ(log.counts().labelled, 1);
  EXPECT_EQ(log.counts().top_1, 1);
}

TEST_F(PredictionLogTest, NamesRecordsOfShards) {
  RecordFile().Add("").Add("").Write(folder_ / "shard");
  const RecordIndex index({folder_ / "shard"});
  PredictionLog log = Log(index, 2);
  log.Add(TwoImages());
  EXPECT_EQ(Lines()[1]["file"], folder_ / "shard");
  EXPECT_EQ(Lines()[1]["record"], 1);
}

TEST_F(PredictionLogTest, SaysWhatIsWrongWithABadImage) {
  PredictionLog log = Log(four_, 2);
  log.AddBad({.record = 1, .kind = BadRecordKind::kWarning});
  log.AddBad({.record = 0,
              .kind = BadRecordKind::kImage,
              .error = DataError({"a.jpg", -1, -1}, "no image")});
  Predictions batch = TwoImages();
  batch.weights[0] = 0;
  log.Add(batch);
  EXPECT_EQ(Lines()[0],
            json::parse(R"({"file": "a.jpg", "error": "no image"})"));
  EXPECT_EQ(Lines()[1]["label"], "cat");
  EXPECT_EQ(log.counts().images, 1);
  EXPECT_EQ(log.counts().bad, 1);
}

TEST_F(PredictionLogTest, LeavesPaddingOut) {
  PredictionLog log = Log(four_, 3);
  Predictions last = TwoImages();
  last.weights[1] = 0;
  log.Add(TwoImages());
  log.Add(last);
  EXPECT_EQ(Lines().size(), 3U);
  EXPECT_EQ(Lines()[2]["file"], "c.jpg");
  EXPECT_EQ(log.counts().bad, 0);
}

TEST_F(PredictionLogTest, AProbabilityThatIsNoneIsNull) {
  PredictionLog log = Log(four_, 1);
  Predictions batch = TwoImages();
  batch.probabilities[0] = std::nanf("");
  log.Add(batch);
  EXPECT_TRUE(Lines()[0]["probability"].is_null());
  EXPECT_EQ(log.counts().labelled, 1);
  EXPECT_EQ(log.counts().top_1, 0);
}

TEST_F(PredictionLogTest, SaysThatItCannotWrite) {
  out_.reset(std::fopen("/dev/full", "w"));
  PredictionLog log = Log(four_, 2);
  EXPECT_THAT([&] { log.Add(TwoImages()); },
              ThrowsMessage<IoError>(HasSubstr("stdout: cannot write")));
}

TEST(PredictionTextTest, TellsWhatThereIs) {
  EXPECT_EQ(PredictionText({.images = 8}, 2),
            "predicted 8 images at 4.0 images/s");
  EXPECT_EQ(
      PredictionText(
          {.images = 8, .bad = 2, .labelled = 4, .top_1 = 2, .top_5 = 3}, 0),
      "predicted 8 images at 0.0 images/s: top-1 50.0 %  top-5 75.0 %  "
      "(of 4 with a label); 2 images were bad");
  EXPECT_EQ(PredictionText({.images = 1,
                            .bad = 1,
                            .labelled = 1,
                            .top_1 = 1,
                            .top_5 = 1,
                            .classes = 5},
                           0),
            "predicted 1 image at 0.0 images/s: top-1 100.0 %  (of 1 with a "
            "label); 1 image was bad");
}

}  // namespace
}  // namespace infeed
