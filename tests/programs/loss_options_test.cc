// Trainings with class weights.

#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/gloo.h"
#include "tests/support/matchers.h"
#include "tests/support/metrics_lines.h"
#include "tests/support/small_model.h"
#include "tests/support/temporary_folder.h"

namespace infeed::loss_options_test {

using testing::DoubleNear;
using testing::Pointwise;

class LossOptionsTest : public testing::Test {
 protected:
  // Trains a model of the same data as the small one, at a rate that does not
  // depend on the number of steps.
  [[nodiscard]] ProgramResult Train(const std::string& model,
                                    const std::string& flags) const {
    return RunTrainResnet(
        "--device cpu --mode train --data_dir " + model_.data_dir() +
        " --model_dir " + (work_ / model) + " --params_override " +
        SmallModel::kParameters +
        ",learning_rate_schedule=constant,warmup_epochs=0 " + flags);
  }
  [[nodiscard]] std::vector<double> Losses(const std::string& model) const {
    std::vector<double> losses;
    for (const auto& [step, line] : MetricsLines(work_ / model, "train")) {
      losses.push_back(line["loss"]);
    }
    return losses;
  }
  // As the model "whole", which was trained with the flags for four steps.
  void ExpectTheSameAfterAResumeAndWithRanks(const std::string& flags) const {
    for (const std::string steps : {"1", "4"}) {
      ASSERT_EQ(Train("parts", flags + " --train_steps " + steps).exit_code, 0);
    }
    EXPECT_EQ(Losses("parts"), Losses("whole"));
    if (kHasGloo) {
      ASSERT_EQ(
          Train("ranks", flags + " --train_steps 4 --local_ranks 2").exit_code,
          0);
      EXPECT_THAT(Losses("ranks"),
                  Pointwise(DoubleNear(1e-4), Losses("whole")));
    }
  }

  SmallModel model_;
  TemporaryFolder work_;
};

TEST_F(LossOptionsTest, ClassWeightsAlsoAfterAResumeAndWithRanks) {
  const std::string file = work_ / "weights.txt";
  WriteFileAtomically(file, "1 1\n2 3\n3 0.5\n4 0.25\n");
  const std::string weighted =
      "--label_offset 1 --num_label_classes 4 --loss_class_weights ";
  ASSERT_THAT(Train("whole", weighted + file + " --train_steps 4"),
              Ends(0, HasSubstr("weights of 4 classes, 0.25 to 3\n")));
  ExpectTheSameAfterAResumeAndWithRanks(weighted + file);
  // All classes have four images.
  EXPECT_THAT(Train("none", "--loss_class_weights balanced --dry_run"),
              Ends(0, HasSubstr("weights of 4 classes, 1 to 1\n")));
}

}  // namespace infeed::loss_options_test
