// train_resnet --mode compare, on runs that it has trained.

#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/matchers.h"
#include "tests/support/small_model.h"

namespace infeed {
namespace {

class CompareModeTest : public testing::Test {
 protected:
  // Trains as model_ was, but for these flags; its folder.
  [[nodiscard]] std::string Train(const std::string& name,
                                  const std::string& more) const {
    std::string folder = folders_ / name;
    const ProgramResult trained = RunTrainResnet(
        "--mode train --device cpu --data_dir " + model_.data_dir() +
        " --model_dir " + folder + " --params_override " +
        SmallModel::kParameters + " " + more);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    return folder;
  }
  // Compares model_ with the run in a folder.
  [[nodiscard]] ProgramResult Compare(const std::string& other,
                                      const std::string& more = "") const {
    return RunTrainResnet("--mode compare --model_dir " + model_.folder() +
                          " --with " + other + more);
  }

  SmallModel model_;
  TemporaryFolder folders_;
};

TEST_F(CompareModeTest, ThreadsAndLoopsDoNotChangeTheInput) {
  const std::string other =
      Train("other",
            "--num_parallel_calls 3 --iterations_per_loop 2 "
            "--steps_per_checkpoint 2");
  const ProgramResult compared = Compare(other);
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out,
              AllOf(HasSubstr("the inputs are equal: 2 steps compared"),
                    HasSubstr("without effect on the input:\n"),
                    HasSubstr("iterations_per_loop: 1 in A, 2 in B\n")));
}

TEST_F(CompareModeTest, AnotherSeedIsFoundInTheFirstStep) {
  const std::string other = Train("other", "--seed 1");
  const ProgramResult text = Compare(other);
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_THAT(text.err, HasSubstr("the runs' inputs differ\n"));
  EXPECT_THAT(text.out, AllOf(HasSubstr("the inputs differ in step 1 ("),
                              HasSubstr("  parameter seed: 0 in A, 1 in B\n"),
                              HasSubstr("is in step 1, number ")));
  const ProgramResult json = Compare(other, " --json");
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report["step"], 1);
  EXPECT_NE(report["samples"]["a"]["fingerprint"],
            report["samples"]["b"]["fingerprint"]);
}

}  // namespace
}  // namespace infeed
