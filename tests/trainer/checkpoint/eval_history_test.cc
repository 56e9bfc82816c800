#include "trainer/checkpoint/eval_history.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

using testing::IsNan;

EvalHistory Made() {
  EvalHistory history;
  history.Add(20, {.top_1 = 0.1, .loss = 1.0 / 3});
  history.Add(10, {.top_1 = 0.5, .loss = std::nan(""), .auc = 0.7});
  history.Add(30, {.top_1 = 0.2, .loss = 2});
  return history;
}

TEST(EvalHistoryTest, HasTheValuesInTheOrderOfTheSteps) {
  EvalHistory history = Made();
  EXPECT_THAT(history.Values("top_1"), ElementsAre(0.5, 0.1, 0.2));
  EXPECT_THAT(history.Values("auc"), ElementsAre(0.7, IsNan(), IsNan()));
  EXPECT_THAT(history.Values("loss"), ElementsAre(IsNan(), 1.0 / 3, 2));
  history.Add(20, {.top_1 = 0.9});
  EXPECT_THAT(history.Values("top_1"), ElementsAre(0.5, 0.9, 0.2));
  history.DropAfter(20);
  EXPECT_THAT(history.Values("top_1"), ElementsAre(0.5, 0.9));
  EXPECT_TRUE(history.Has(20));
  EXPECT_FALSE(history.Has(30));
  history.DropAfter(0);
  EXPECT_THAT(history.Values("top_1"), IsEmpty());
}

TEST(EvalHistoryTest, TheFileKeepsTheHistory) {
  const TemporaryFolder model;
  EXPECT_EQ(ReadEvalHistory(model.path()), EvalHistory());
  WriteEvalHistory(Made(), model.path());
  EXPECT_EQ(ReadEvalHistory(model.path()), Made());
  EXPECT_EQ(EvalHistory::Parse(Made().ToJson()), Made());
}

TEST(EvalHistoryTest, ForgetsWhatARunGoesBackBehind) {
  const TemporaryFolder model;
  EXPECT_NO_THROW(ForgetEvaluationsAfter(0, model.path()));
  EXPECT_FALSE(std::filesystem::exists(EvaluationsPath(model.path())));
  WriteEvalHistory(Made(), model.path());
  std::filesystem::create_directory(EvalFolder(model.path()));
  for (const std::string& path :
       {EvalPath(model.path(), 20), EvalPath(model.path(), 30),
        EvalPath(model.path(), 30, "test-1a2b3c4d"),
        PathIn(EvalFolder(model.path()), "events.out.tfevents.30.host")}) {
    std::ofstream(path) << "{}\n";
  }
  ForgetEvaluationsAfter(30, model.path());
  EXPECT_EQ(ReadEvalHistory(model.path()), Made());
  EXPECT_THAT(NamesInFolder(EvalFolder(model.path())), SizeIs(4));
  ForgetEvaluationsAfter(20, model.path());
  EXPECT_EQ(ReadEvalHistory(model.path()).last_step(), 20);
  EXPECT_THAT(
      NamesInFolder(EvalFolder(model.path())),
      UnorderedElementsAre("00000020.json", "events.out.tfevents.30.host"));
}

// A kill may come between the history and the file of an evaluation.
TEST(EvalHistoryTest, AnEvaluationCountsWithItsFile) {
  namespace fs = std::filesystem;
  const TemporaryFolder model;
  WriteEvalHistory(Made(), model.path());
  const auto has_evaluation = [&] {
    return ReadEvalHistoryUpTo(20, model.path(), "").Has(20);
  };
  EXPECT_FALSE(has_evaluation());
  const std::string path = EvalPath(model.path(), 20);
  fs::create_directories(path);
  EXPECT_FALSE(has_evaluation());
  fs::remove(path);
  fs::create_symlink("nowhere", path);
  EXPECT_FALSE(has_evaluation());
  fs::remove(path);
  std::ofstream(path) << "{}\n";
  EXPECT_TRUE(has_evaluation());
  EXPECT_FALSE(ReadEvalHistoryUpTo(20, model.path(), "").Has(30));
}

TEST(EvalHistoryTest, RefusesWhatItDidNotWrite) {
  const TemporaryFolder model;
  for (const std::string text :
       {"", "{}", "[]", R"({"schema":2,"evaluations":[]})",
        R"({"schema":1,"evaluations":[{"top_1":1}]})",
        R"({"schema":1,"evaluations":[{"step":1,"top_1":"a"}]})"}) {
    std::ofstream(EvaluationsPath(model.path())) << text;
    EXPECT_THAT(
        MessageOf<DataError>([&] { (void)ReadEvalHistory(model.path()); }),
        HasSubstr("evaluations.json"))
        << text;
  }
}

}  // namespace
}  // namespace infeed
