#include "trainer/log/eval_log.h"

#include <cmath>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "trainer/log/pictures.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

using nlohmann::json;

const EvalSubject kOwn = {
    .split = "validation", .data = "0123abcd", .key = "1a2b3c4d"};

std::string EventsIn(const std::string& folder) {
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().find("tfevents") != std::string::npos) {
      bytes += ReadWholeFile(entry.path().string(), 1 << 20);
    }
  }
  return bytes;
}

TEST(EvalLogTest, TellsTheSameInAllItsFiles) {
  const TemporaryFolder model;
  EvalLog log(model.path(), ModelLabels({"cat", "dog"}));
  const EvalResult result = {.images = 4,
                             .top_1 = 0.75,
                             .top_5 = 1,
                             .loss = 0.5,
                             .classes = 2,
                             .confusion = {2, 1, 0, 1},
                             .mean_class = 0.875};
  log.Write(3, kOwn, result);
  const json line =
      json::parse(ReadWholeFile(MetricsPath(model.path()), 1 << 20));
  EXPECT_EQ(line["event"], "eval");
  EXPECT_EQ(line["step"], 3);
  EXPECT_EQ(line["images"], 4);
  EXPECT_EQ(line["top_1"], 0.75);
  EXPECT_EQ(line["mean_class"], 0.875);
  EXPECT_FALSE(line.contains("auc"));
  EXPECT_FALSE(line.contains("top_5"));  // always 1
  const json file =
      json::parse(ReadWholeFile(EvalPath(model.path(), 3), 1 << 20));
  EXPECT_EQ(file["top_1"], 0.75);
  EXPECT_EQ(file["classes"][1]["label"], "dog");
  EXPECT_THAT(
      EventsIn(EvalFolder(model.path())),
      AllOf(HasSubstr("top_1_accuracy"), Not(HasSubstr("top_5")),
            HasSubstr("mean_class_accuracy"), HasSubstr("loss"),
            HasSubstr(ConfusionPicture(result).png),
            HasSubstr("    0 cat\n    1 dog\n"), Not(HasSubstr("auc"))));
}

TEST(EvalFileTest, HoldsAllThatAnEvaluationFound) {
  const EvalResult result = {.images = 3,
                             .bad_records = 1,
                             .top_1 = 0.75,
                             .top_5 = 1,
                             .loss = 0.5,
                             .images_per_second = 8,
                             .input_wait = 0.25,
                             .classes = 2,
                             .confusion = {2, 1, 0, 0},
                             .mean_class = 0.625,
                             .auc = 0.875,
                             .roc = {{0, 0}, {0.5, 1}, {1, 1}},
                             .auc_at_half = 0.5};
  const ModelLabels labels({"cat", "d\xffg"});
  EXPECT_EQ(json::parse(EvalFileText(7, kOwn, result, labels)), json::parse(R"({
      "schema": 1, "step": 7, "split": "validation",
      "data_identity": "0123abcd", "evaluation": "validation-1a2b3c4d",
      "images": 3, "bad_records": 1,
      "top_1": 0.75, "loss": 0.5, "mean_class": 0.625,
      "auc": 0.875, "auc_at_half": 0.5,
      "images_per_second": 8.0, "input_wait": 0.25,
      "classes": [
        {"index": 0, "label": "cat", "images": 3, "said": 2, "right": 2,
         "accuracy": 0.6666666666666666},
        {"index": 1, "label": "d�g", "images": 0, "said": 1, "right": 0}],
      "confusion": [[2, 1], [0, 0]],
      "roc": [[0.0, 0.0], [0.5, 1.0], [1.0, 1.0]]})"));
}

TEST(EvalFileTest, LeavesOutWhatThereIsNot) {
  const json file = json::parse(
      EvalFileText(0, kOwn, {.images = 1, .loss = std::nan("")}, {}));
  EXPECT_TRUE(file["loss"].is_null());
  for (const char* name :
       {"mean_class", "auc", "classes", "confusion", "roc"}) {
    EXPECT_FALSE(file.contains(name)) << name;
  }
}

TEST(EvalFileTest, TakesThePlaceOfAnEarlierOneOfItsSubject) {
  const TemporaryFolder folder;
  EvalLog log(folder.path(), {});
  log.Write(12, kOwn, {.images = 3});
  log.Write(12, kOwn, {.images = 1});
  log.Write(12,
            {.split = "test",
             .data = "4567cdef",
             .key = "5e6f7a8b",
             .differences = "eval_split is test"},
            {.images = 2});
  const auto file = [&](const std::string& name) {
    return json::parse(ReadWholeFile(folder / ("eval/" + name), 1 << 20));
  };
  EXPECT_EQ(EvalPath(folder.path(), 12), folder / "eval/00000012.json");
  EXPECT_EQ(file("00000012.json")["images"], 1);
  const json other = file("00000012-test-5e6f7a8b.json");
  EXPECT_EQ(other["images"], 2);
  EXPECT_EQ(other["split"], "test");
  EXPECT_EQ(other["data_identity"], "4567cdef");
  EXPECT_EQ(other["differences"], "eval_split is test");
  const std::string lines = ReadWholeFile(MetricsPath(folder.path()), 1 << 20);
  const json line =
      json::parse(lines.substr(lines.rfind('\n', lines.size() - 2) + 1));
  EXPECT_EQ(line["event"], "other_eval");
  EXPECT_EQ(line["evaluation"], "test-5e6f7a8b");
  EXPECT_THAT(EventsIn(EvalFolder(folder.path())),
              HasSubstr("top_1_accuracy/test-5e6f7a8b"));
}

}  // namespace
}  // namespace infeed
