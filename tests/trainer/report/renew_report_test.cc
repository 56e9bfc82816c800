#include "trainer/report/renew_report.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "tests/support/made_stats.h"
#include "tests/support/temporary_folder.h"
#include "trainer/model_dir/metrics_log.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

EvalResult ResultOfTwoClasses(std::int64_t right) {
  EvalResult result;
  result.classes = 2;
  result.confusion = {right, 1, 2, 6};
  return result;
}

// A training's folder with its report.
class RenewReportTest : public testing::Test {
 protected:
  RenewReportTest() {
    log_.Write("start", 0, {});
    log_.Write("train", 1, {{"loss", 3.0}, {"top_1", 0.25}});
    log_.Write("train", 2, {{"loss", 2.0}, {"top_1", 0.5}});
    log_.Write("eval", 2, {{"loss", 1.0}, {"top_1", 0.75}});
    Report(folder_.path(), {.title = "ResNet-18", .total_steps = 9})
        .Write({.step = 2,
                .end = RunEnd::kDone,
                .times = {.total = 123.25, .loops = 46},
                .input = BusyRun(),
                .evaluation = ResultOfTwoClasses(711),
                .evaluation_step = 2});
  }

  [[nodiscard]] std::string Page() const {
    return ReadWholeFile(path_, 1 << 20);
  }
  // The page after an evaluation; result: one of the training's own.
  [[nodiscard]] std::string PageAfter(
      std::int64_t step, const std::optional<EvalResult>& result) const {
    RenewReport(folder_.path(), {.class_names = {"ant", "bee"}},
                {.evaluation = result, .evaluation_step = step});
    return Page();
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/report.html";
  MetricsLog log_{folder_.path()};
};

TEST_F(RenewReportTest, ShowsAnEvaluationBesideTheTrainingsFigures) {
  log_.Write("other_eval", 2,
             {{"evaluation", std::string("test-1a2b3c4d")},
              {"loss", 4.0},
              {"top_1", 0.125}});
  const std::string page = PageAfter(2, std::nullopt);
  EXPECT_THAT(
      page, AllOf(HasSubstr("Other evaluations"),
                  HasSubstr("<td>test-1a2b3c4d</td><td>2</td>"),
                  HasSubstr("Verdict"), HasSubstr("2 / 9"), HasSubstr("123.25"),
                  HasSubstr("ended"), HasSubstr("711")));
  // Before the stages, as in a training's report.
  EXPECT_LT(page.find("Other evaluations"), page.find("The input's stages"));
  EXPECT_EQ(PageAfter(2, std::nullopt), page);
}

TEST_F(RenewReportTest, ShowsTheTrainingsNewestEvaluation) {
  log_.Write("eval", 2, {{"loss", 1.0}, {"top_1", 0.875}});
  const std::string page = PageAfter(2, ResultOfTwoClasses(713));
  EXPECT_THAT(page, AllOf(HasSubstr("713"), Not(HasSubstr("711")),
                          HasSubstr("87.5\u00a0%"), HasSubstr("123.25")));
  EXPECT_THAT(PageAfter(1, ResultOfTwoClasses(715)), Not(HasSubstr("715")));
}

TEST_F(RenewReportTest, LeavesWhatIsNoReport) {
  WriteFileAtomically(path_, "<p>mine</p>\n");
  EXPECT_EQ(PageAfter(2, std::nullopt), "<p>mine</p>\n");
  std::filesystem::remove(path_);
  RenewReport(folder_.path(), {}, {});
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace infeed
