#include "trainer/checkpoint/average.h"

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensors.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

class AverageTest : public testing::Test {
 protected:
  void Save(std::int64_t step, const TensorMap& model) const {
    Checkpoint checkpoint = MadeCheckpoint(step);
    checkpoint.state.model = model;
    SaveCheckpoint(dir_, checkpoint);
  }
  void Save(std::int64_t step, float first, float second) const {
    Save(step, {{"bn1.num_batches_tracked", IntTensor(step)},
                {"bn1.running_var", FloatTensor({first})},
                {"fc.bias", FloatTensor({second, 1})}});
  }
  [[nodiscard]] std::string ErrorOf(std::int64_t step, int count) const {
    return MessageOf<UsageError>(
        [&] { (void)AverageCheckpoints(dir_, step, count); });
  }

  TemporaryFolder folder_;
  const std::string& dir_ = folder_.path();
};

TEST_F(AverageTest, AveragesTheLastCheckpoints) {
  Save(10, 100, 100);
  Save(20, 1, 2);
  Save(30, 2, 4);
  Save(40, 6, 7);
  const AveragedWeights average = AverageCheckpoints(dir_, 40, 3);
  EXPECT_THAT(average.steps, ElementsAre(20, 30, 40));
  EXPECT_EQ(average.weights,
            (TensorMap{{"bn1.num_batches_tracked", IntTensor(40)},
                       {"bn1.running_var", FloatTensor({3})},
                       {"fc.bias", FloatTensor({13.0F / 3, 1})}}));
  EXPECT_THAT(AverageCheckpoints(dir_, 30, 2).weights.at("fc.bias"),
              FloatTensor({3, 1}));
  EXPECT_THAT(AverageCheckpoints(dir_, 40, 1).weights.at("fc.bias"),
              FloatTensor({7, 1}));
}

// In float, 2^24 + 1 + 1 is 2^24.
TEST_F(AverageTest, SumsAreRoundedOnce) {
  for (const std::int64_t step : {1, 2, 3, 4}) {
    Save(step, step == 1 ? 0x1p24F : 1.0F, 0);
  }
  EXPECT_EQ(AverageCheckpoints(dir_, 4, 4).weights.at("bn1.running_var"),
            FloatTensor({static_cast<float>((0x1p24 + 3) / 4)}));
}

TEST_F(AverageTest, NeedsEnoughCheckpointsAndLeavesNoDamagedOneOut) {
  EXPECT_EQ(ErrorOf(9, 2), "average_checkpoints=2: model_dir=" + dir_ +
                               ": it has only 0 up to step 9: none");
  Save(10, 1, 1);
  Save(20, 1, 1);
  EXPECT_EQ(ErrorOf(20, 3), "average_checkpoints=3: model_dir=" + dir_ +
                                ": it has only 2 up to step 20: 10, 20");
  std::ofstream(PathIn(CheckpointFolder(dir_, 10), kModelFile), std::ios::app)
      << "x";
  EXPECT_THROW((void)AverageCheckpoints(dir_, 20, 2), DataError);
}

TEST_F(AverageTest, NeedsTheSameTensors) {
  Save(1, 1, 1);
  Save(2, {{"bn1.num_batches_tracked", IntTensor(2)},
           {"bn1.running_var", FloatTensor({1})},
           {"fc.bias", FloatTensor({1, 2, 3})}});
  EXPECT_THAT(ErrorOf(2, 2), HasSubstr("the tensor fc.bias of step 2 is not "));
  Save(3, {{"bn1.running_var", FloatTensor({1})},
           {"fc.bias", FloatTensor({1, 2, 3})}});
  EXPECT_THAT(ErrorOf(3, 2), HasSubstr("the tensor bn1.num_batches_tracked "));
}

}  // namespace
}  // namespace infeed
