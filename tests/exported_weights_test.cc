#include "trainer/exported_weights.h"

#include "base/error.h"
#include "tests/support/tensors.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

const ModelState kState = {
    .model = {{"fc.weight", FloatTensor({1, 2})},
              {"bn1.num_batches_tracked", IntTensor(3)}},
    .optimizer = {{"fc.weight", FloatTensor({5, 6})},
                  {"fc.weight/average", FloatTensor({3, 4})}}};

TEST(ExportedWeightsTest, AreTheModels) {
  EXPECT_EQ(ExportedWeights({}, kState), kState.model);
}

TEST(ExportedWeightsTest, AreTheAveragesWhereAsked) {
  TrainParams params;
  params.export_moving_average = true;
  const TensorMap weights = ExportedWeights(params, kState);
  EXPECT_EQ(weights.at("fc.weight"), FloatTensor({3, 4}));
  EXPECT_EQ(weights.at("bn1.num_batches_tracked"), IntTensor(3));
}

TEST(ExportedWeightsTest, NeedsAveragesWhereAsked) {
  TrainParams params;
  params.export_moving_average = true;
  EXPECT_THROW(
      (void)ExportedWeights(params, {.model = kState.model, .optimizer = {}}),
      UsageError);
}

}  // namespace
}  // namespace infeed
