#include "trainer/results/metrics.h"

#include <cmath>
#include <fstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

using nlohmann::json;
using testing::Eq;

json Goldens() {
  std::ifstream file(INFEED_TEST_DATA "/metrics_goldens.json");
  return json::parse(file);
}

// Class 0 of one class is what is positive.
std::vector<ScoredImage> Images(const json& golden) {
  auto labels = golden["labels"].get<std::vector<std::int32_t>>();
  for (std::int32_t& label : labels) {
    label = label == 1 ? 0 : -1;
  }
  return ScoredFor(0, golden["scores"].get<std::vector<float>>(), labels, 1);
}

TEST(MetricsTest, CurvesAndAreasAreThoseOfScikitLearn) {
  const json goldens = Goldens();
  for (const json& golden : goldens["two_classes"]) {
    SCOPED_TRACE(golden["name"]);
    const std::vector<ScoredImage> images = Images(golden);
    EXPECT_THAT(RankAuc(images), Optional(DoubleEq(golden["auc"])));
    EXPECT_THAT(ThresholdAuc(images),
                Optional(DoubleEq(golden["auc_at_half"])));
    const std::vector<RocPoint> curve = RocCurve(images);
    ASSERT_EQ(curve.size(), golden["roc"].size());
    for (std::size_t i = 0; i < curve.size(); ++i) {
      EXPECT_DOUBLE_EQ(curve[i].false_positive_rate, golden["roc"][i][0]);
      EXPECT_DOUBLE_EQ(curve[i].true_positive_rate, golden["roc"][i][1]);
    }
  }
}

TEST(MetricsTest, OneClassAloneOrAScoreThatIsNotANumberHasNoCurve) {
  for (const std::vector<ScoredImage>& images :
       {std::vector<ScoredImage>{{0.2F, true}, {0.7F, true}},
        {{std::nanf(""), true}, {0.7F, false}},
        {{0.2F, false}},
        {}}) {
    EXPECT_EQ(RankAuc(images), std::nullopt);
    EXPECT_EQ(ThresholdAuc(images), std::nullopt);
    EXPECT_THAT(RocCurve(images), IsEmpty());
  }
}

TEST(MetricsTest, ClassesAreCountedByRowAndColumn) {
  const std::vector<std::int64_t> confusion = {3, 1, 0,  //
                                               0, 0, 0,  //
                                               2, 0, 0};
  const std::vector<ClassCounts> counts = CountClasses(confusion, 3);
  EXPECT_EQ(counts[0].images, 4);
  EXPECT_EQ(counts[0].right, 3);
  EXPECT_EQ(counts[0].predicted, 5);
  const std::vector<std::optional<double>> accuracies = {
      counts[0].accuracy(), counts[1].accuracy(), counts[2].accuracy()};
  EXPECT_THAT(accuracies,
              ElementsAre(Optional(0.75), Eq(std::nullopt), Optional(0.0)));
  EXPECT_THAT(MeanOf(accuracies), Optional(0.375));
  EXPECT_EQ(MeanOf({}), std::nullopt);
}

TEST(MetricsTest, EachClassIsScoredAgainstTheRest) {
  const std::vector<ScoredImage> images =
      ScoredFor(1, std::vector<float>{0.7F, 0.3F, 0.4F, 0.6F},
                std::vector<std::int32_t>{1, 0}, 2);
  ASSERT_EQ(images.size(), 2U);
  EXPECT_EQ(images[0].score, 0.3F);
  EXPECT_TRUE(images[0].positive);
  EXPECT_EQ(images[1].score, 0.6F);
  EXPECT_FALSE(images[1].positive);
}

}  // namespace
}  // namespace infeed
