#include "trainer/log/eval_log.h"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"
#include "trainer/log/pictures.h"
#include "trainer/model_dir/model_dir.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
  WriteFileAtomically(LabelsPath(model.path()), "cat\ndog\n");
  EvalLog log(model.path());
  const EvalResult result = {.images = 4,
                             .top_1 = 0.75,
                             .top_5 = 1,
                             .loss = 0.5,
                             .classes = 2,
                             .confusion = {2, 1, 0, 1},
                             .mean_class = 0.875};
  log.Write(3, result);
  const json line =
      json::parse(ReadWholeFile(MetricsPath(model.path()), 1 << 20));
  EXPECT_EQ(line["event"], "eval");
  EXPECT_EQ(line["step"], 3);
  EXPECT_EQ(line["images"], 4);
  EXPECT_EQ(line["top_1"], 0.75);
  EXPECT_EQ(line["mean_class"], 0.875);
  EXPECT_FALSE(line.contains("auc"));
  const json file =
      json::parse(ReadWholeFile(EvalPath(model.path(), 3), 1 << 20));
  EXPECT_EQ(file["top_1"], 0.75);
  EXPECT_EQ(file["classes"][1]["label"], "dog");
  EXPECT_THAT(EventsIn(EvalFolder(model.path())),
              AllOf(HasSubstr("top_1_accuracy"), HasSubstr("top_5_accuracy"),
                    HasSubstr("mean_class_accuracy"), HasSubstr("loss"),
                    HasSubstr(ConfusionPicture(result, {"cat", "dog"}).png),
                    Not(HasSubstr("auc"))));
}

}  // namespace
}  // namespace infeed
