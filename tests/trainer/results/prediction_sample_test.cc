#include <vector>

#include "tests/support/matchers.h"
#include "trainer/results/prediction_log.h"

namespace infeed {
namespace {

// A batch in which the model of two classes always predicts 0, with these
// probabilities. Labels of 9 are none of its classes.
Predictions Said(const std::vector<float>& probabilities,
                 const std::vector<std::int32_t>& labels) {
  Predictions batch{.top = 1,
                    .classes = std::vector<std::int32_t>(labels.size()),
                    .probabilities = probabilities,
                    .labels = labels,
                    .weights = std::vector<float>(labels.size(), 1)};
  return batch;
}

std::vector<std::int64_t> RecordsOf(const std::vector<ShownPrediction>& list) {
  std::vector<std::int64_t> records;
  for (const ShownPrediction& shown : list) {
    records.push_back(shown.record);
  }
  return records;
}

TEST(PredictionSampleTest, TellsRightFromWrongAndLeavesBadImagesOut) {
  PredictionSample sample(2, 10);
  Predictions batch = Said({0.9F, 0.6F, 0.7F, 0.9F, 0.9F}, {0, 1, 9, 0, 1});
  batch.weights = {1, 1, 1, 0, 0};
  sample.Add(batch);
  sample.Add(Said({0.8F, 0.9F}, {-1, 1}));
  ASSERT_THAT(RecordsOf(sample.right()), ElementsAre(0));
  EXPECT_EQ(sample.right()[0].label, 0);
  ASSERT_THAT(RecordsOf(sample.wrong()), ElementsAre(6, 1));
  EXPECT_EQ(sample.wrong()[1].predicted, 0);
  EXPECT_EQ(sample.wrong()[1].label, 1);
  EXPECT_FLOAT_EQ(sample.wrong()[1].probability, 0.6F);
  EXPECT_THAT(RecordsOf(sample.unlabelled()), ElementsAre(2, 5));
  EXPECT_EQ(sample.unlabelled()[0].label, std::nullopt);
}

TEST(PredictionSampleTest, KeepsTheSurestOfTheWrong) {
  PredictionSample sample(2, 3);
  sample.Add(Said({0.6F, 0.9F, 0.7F, 0.9F}, {1, 1, 1, 1}));
  sample.Add(Said({0.5F, 0.8F}, {1, 1}));
  EXPECT_THAT(RecordsOf(sample.wrong()), ElementsAre(1, 3, 5));
  EXPECT_THAT(sample.right(), IsEmpty());
}

TEST(PredictionSampleTest, KeepsSomeOfTheRightFromEverywhere) {
  constexpr int kImages = 1000;
  const auto chosen = [](int batch_size) {
    PredictionSample sample(2, 20);
    for (int i = 0; i < kImages; i += batch_size) {
      const auto size = static_cast<std::size_t>(batch_size);
      sample.Add(Said(std::vector<float>(size, 0.9F),
                      std::vector<std::int32_t>(size, 0)));
    }
    return RecordsOf(sample.right());
  };
  const std::vector<std::int64_t> records = chosen(100);
  ASSERT_THAT(records, SizeIs(20));
  EXPECT_THAT(records, testing::WhenSorted(records));
  EXPECT_LT(records.front(), kImages / 4);
  EXPECT_GT(records.back(), kImages * 3 / 4);
  EXPECT_EQ(records, chosen(8));
}

}  // namespace
}  // namespace infeed
