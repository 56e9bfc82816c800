#include "trainer/results/eval_result.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using nlohmann::json;

json ManyClasses() {
  std::ifstream file(INFEED_TEST_DATA "/metrics_goldens.json");
  return json::parse(file)["many_classes"];
}

// The sums of images first..last of the golden, as a device would make them.
EvalSums SumsOf(const json& golden, std::size_t first, std::size_t last) {
  EvalSums sums = {.classes = 4, .confusion = std::vector<std::int64_t>(16)};
  for (std::size_t i = first; i < last; ++i) {
    const std::int32_t label = golden["labels"][i];
    std::size_t predicted = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      sums.scores.push_back(golden["scores"][i * 4 + c]);
      if (golden["scores"][i * 4 + c] > golden["scores"][i * 4 + predicted]) {
        predicted = c;
      }
    }
    sums.labels.push_back(label);
    const bool right = static_cast<std::size_t>(label) == predicted;
    ++sums.images;
    sums.top_1 += right ? 1 : 0;
    sums.top_5 += 1;
    sums.loss_sum += 0.25;
    ++sums.confusion[static_cast<std::size_t>(label) * 4 + predicted];
  }
  return sums;
}

TEST(EvalResultTest, SaysOfManyClassesWhatScikitLearnSays) {
  const json golden = ManyClasses();
  const EvalResult result = MakeEvalResult(SumsOf(golden, 0, 40));
  EXPECT_EQ(result.images, 40);
  EXPECT_EQ(result.loss, 0.25);
  EXPECT_EQ(result.top_5, 1);
  EXPECT_EQ(result.confusion,
            golden["confusion"].get<std::vector<std::int64_t>>());
  EXPECT_THAT(result.mean_class, Optional(DoubleEq(golden["mean_class"])));
  EXPECT_THAT(result.auc, Optional(DoubleEq(golden["auc"])));
  EXPECT_THAT(result.roc, IsEmpty());
  EXPECT_EQ(result.auc_at_half, std::nullopt);
}

TEST(EvalResultTest, TwoClassesHaveTheCurveOfTheSecond) {
  const EvalResult result =
      MakeEvalResult({.images = 3,
                      .classes = 2,
                      .confusion = {1, 1, 0, 1},
                      .scores = {.9F, .1F, .3F, .7F, .2F, .8F},
                      .labels = {0, 0, 1}});
  EXPECT_THAT(result.auc, Optional(1.0));
  EXPECT_THAT(result.auc_at_half, Optional(0.75));
  EXPECT_THAT(result.roc, SizeIs(3));
  EXPECT_THAT(result.mean_class, Optional(0.75));
}

TEST(EvalResultTest, SumsOfPartsAddUpToTheWhole) {
  const json golden = ManyClasses();
  EvalSums sums;
  sums.Add(SumsOf(golden, 25, 40));
  sums.Add(SumsOf(golden, 0, 7));
  sums.Add({});  // a part without images
  sums.Add(SumsOf(golden, 7, 25));
  const EvalResult parts = MakeEvalResult(sums);
  const EvalResult whole = MakeEvalResult(SumsOf(golden, 0, 40));
  EXPECT_EQ(parts.images, whole.images);
  EXPECT_EQ(parts.top_1, whole.top_1);
  EXPECT_EQ(parts.top_5, whole.top_5);
  EXPECT_EQ(parts.loss, whole.loss);
  EXPECT_EQ(parts.confusion, whole.confusion);
  EXPECT_EQ(parts.mean_class, whole.mean_class);
  EXPECT_EQ(parts.auc, whole.auc);
}

std::string ParseError(const std::string& bytes) {
  return MessageOf<IoError>([&] { (void)ParseEvalSums(bytes); });
}

TEST(EvalResultTest, SumsComeBackFromTheirBytes) {
  const EvalSums sums = SumsOf(ManyClasses(), 0, 7);
  const std::string bytes = ToBytes(sums);
  const EvalSums back = ParseEvalSums(bytes);
  EXPECT_EQ(back.images, sums.images);
  EXPECT_EQ(back.top_1, sums.top_1);
  EXPECT_EQ(back.top_5, sums.top_5);
  EXPECT_EQ(back.loss_sum, sums.loss_sum);
  EXPECT_EQ(back.classes, sums.classes);
  EXPECT_EQ(back.confusion, sums.confusion);
  EXPECT_EQ(back.scores, sums.scores);
  EXPECT_EQ(back.labels, sums.labels);
  EXPECT_TRUE(back.has_scores);
  EXPECT_EQ(ToBytes(ParseEvalSums(ToBytes({}))), ToBytes({}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_THAT(ParseError(bytes.substr(0, size)), HasSubstr("cannot be read"));
  }
  EXPECT_THAT(ParseError(bytes + "x"), HasSubstr("cannot be read"));
}

TEST(EvalResultTest, SumsOfFewImagesAreFewBytes) {
  EvalSums sums{.images = 3, .classes = 1000};
  sums.confusion.resize(1'000'000);
  const std::string empty = ToBytes(sums);
  sums.confusion[0] = 1;
  sums.confusion[999'999] = 2;
  const std::string bytes = ToBytes(sums);
  EXPECT_EQ(bytes.size(), empty.size() + 2 * 16);
  EXPECT_LT(bytes.size(), 150);
  EXPECT_EQ(ParseEvalSums(bytes).confusion, sums.confusion);
  // A cell that the matrix does not have: its place follows the first one.
  std::string wrong = bytes;
  const std::size_t place = wrong.find("\x3f\x42\x0f");  // 999,999
  ASSERT_NE(place, std::string::npos);
  wrong[place] = '\x40';
  EXPECT_THAT(ParseError(wrong), HasSubstr("cannot be read"));
}

TEST(EvalResultTest, ScoresOfAPartAloneAreNoScores) {
  const json golden = ManyClasses();
  EvalSums without = SumsOf(golden, 0, 7);
  without.DropScores();
  without.Add(SumsOf(golden, 7, 40));
  EXPECT_THAT(without.scores, IsEmpty());
  const EvalResult result = MakeEvalResult(without);
  EXPECT_EQ(result.auc, std::nullopt);
  EXPECT_EQ(result.images, 40);
}

TEST(EvalResultTest, HasNoMeanClassWithoutAConfusionMatrix) {
  const EvalResult result =
      MakeEvalResult({.images = 1, .classes = 2000, .has_scores = false});
  EXPECT_EQ(result.mean_class, std::nullopt);
  EXPECT_EQ(result.auc, std::nullopt);
}

// With five classes, top_5 would be 1, whatever the model predicts.
TEST(EvalResultTest, GivesEachMetricByItsName) {
  const EvalResult result = {.top_1 = 1,
                             .top_5 = 2,
                             .loss = 3,
                             .mean_class = 4,
                             .auc = 5,
                             .auc_at_half = 6};
  double value = 0;
  for (const char* name :
       {"top_1", "top_5", "loss", "mean_class", "auc", "auc_at_half"}) {
    EXPECT_EQ(FindMetric(result, name), ++value) << name;
  }
  EXPECT_EQ(FindMetric({.top_5 = 1, .classes = 5}, "top_5"), std::nullopt);
  EXPECT_EQ(FindMetric({.top_5 = 0.5, .classes = 6}, "top_5"), 0.5);
  EXPECT_EQ(FindMetric({}, "auc"), std::nullopt);
  EXPECT_DEATH((void)FindMetric({}, "top_3"), "has a name");
}

TEST(EvalResultTest, SaysWhyThereIsNoMetric) {
  for (const char* const name : {"top_1", "loss"}) {
    EXPECT_EQ(LacksMetricText(name, 50'000'000, 1), "");
  }
  EXPECT_EQ(LacksMetricText("top_5", 10, 5),
            "with up to five classes it is always 1");
  EXPECT_EQ(LacksMetricText("top_5", 10, 6), "");
  EXPECT_EQ(LacksMetricText("mean_class", 10, 1024), "");
  EXPECT_EQ(LacksMetricText("mean_class", 10, 1025),
            "it is computed for up to 1024 classes only");
  EXPECT_EQ(LacksMetricText("auc_at_half", 10, 2), "");
  EXPECT_EQ(LacksMetricText("auc_at_half", 10, 3),
            "it is defined for two classes only");
  EXPECT_EQ(LacksMetricText("auc", 10, 1), "it needs two classes or more");
  EXPECT_EQ(LacksMetricText("auc", 16'777, 1000), "");
  EXPECT_EQ(
      LacksMetricText("auc", 50'000, 1000),
      "it is computed for up to 16777216 scores only, images times classes");
}

TEST(EvalResultTest, ALossThatIsNoNumberHasNoSign) {
  const double loss =
      MakeEvalResult({.images = 1, .loss_sum = -std::nan(""), .classes = 1})
          .loss;
  EXPECT_TRUE(std::isnan(loss));
  EXPECT_FALSE(std::signbit(loss));
}

TEST(EvalResultTest, BetterIsStrictlyBetterAndFinite) {
  const double nan = std::nan("");
  EXPECT_TRUE(IsBetter("top_1", 0.6, 0.5));
  EXPECT_FALSE(IsBetter("top_1", 0.5, 0.5));
  EXPECT_TRUE(IsBetter("loss", 0.5, 0.6));
  EXPECT_FALSE(IsBetter("loss", 0.6, 0.5));
  EXPECT_FALSE(IsBetter("loss", nan, 1));
  EXPECT_TRUE(IsBetter("loss", 1, nan));
  EXPECT_FALSE(IsBetter("loss", -std::numeric_limits<double>::infinity(), 1));
  EXPECT_FALSE(IsBetter("top_1", nan, nan));
}

}  // namespace
}  // namespace infeed
