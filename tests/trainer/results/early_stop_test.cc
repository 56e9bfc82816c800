#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "trainer/results/eval_result.h"

namespace infeed {
namespace {

TEST(EarlyStopTest, ParsesMetricAndPatience) {
  EXPECT_FALSE(ParseEarlyStop(""));
  EXPECT_EQ(ParseEarlyStop("top_1:5")->metric, "top_1");
  EXPECT_EQ(ParseEarlyStop("auc_at_half:12")->evaluations, 12);
  for (const std::string text : {"top_1", "top_1:", "top_1:0", ":5", "top1:5",
                                 "top_1:5:5", "loss:-1", "loss:1.5"}) {
    EXPECT_THAT(
        MessageOf<UsageError>([&] { (void)ParseEarlyStop(text); }),
        AllOf(HasSubstr("early_stop='" + text + "': must be a metric and"),
              HasSubstr("the metric is top_1, top_5, loss, "
                        "mean_class, auc or auc_at_half")))
        << text;
  }
}

TEST(PlateauTest, ParsesMetricAndPatience) {
  EXPECT_EQ(ParsePlateau("loss:0").evaluations, 0);
  EXPECT_EQ(ParsePlateau("top_1:3").metric, "top_1");
  for (const std::string text : {"", "top_1", "top1:5", "loss:-1"}) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)ParsePlateau(text); }),
                HasSubstr("plateau='" + text + "': must be a metric and"));
  }
}

// The number of evaluations after which a training ends; 0: never.
std::size_t End(const Patience& early_stop, const std::vector<double>& all) {
  for (std::size_t count = 0; count <= all.size(); ++count) {
    if (IsOver(early_stop, {all.begin(), all.begin() + count})) {
      return count;
    }
  }
  return 0;
}

TEST(EarlyStopTest, EndsAfterThatManyEvaluationsThatAreNoBetter) {
  const std::vector<double> values = {.1, .3, .2, .3, .4, .4, .1, .2, .5};
  EXPECT_EQ(End({"top_1", 1}, values), 3);
  EXPECT_EQ(End({"top_1", 2}, values), 4);
  EXPECT_EQ(End({"top_1", 3}, values), 8);
  EXPECT_EQ(End({"top_1", 4}, values), 0);
  EXPECT_EQ(End({"loss", 5}, values), 6);
  EXPECT_EQ(End({"loss", 9}, values), 0);
}

TEST(EarlyStopTest, AValueThatIsNotFiniteIsNeverBetter) {
  const double nan = std::nan("");
  EXPECT_EQ(End({"auc", 2}, {nan, nan, nan}), 3);
  EXPECT_EQ(End({"auc", 2}, {nan, nan, .1, nan, .2, nan, nan}), 7);
}

}  // namespace
}  // namespace infeed
