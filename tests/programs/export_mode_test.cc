// Exports of the program train_resnet, on fake data.

#include <filesystem>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_resnet.h"
#include "trainer/checkpoint/average.h"
#include "trainer/formats/safetensors.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

class ExportModeTest : public testing::Test {
 protected:
  // train_resnet with the folders and the flags.
  [[nodiscard]] ProgramResult Run(const std::string& flags) const {
    return RunTrainResnet("--device cpu --model_dir " + (parent_ / "model") +
                          " --export_dir " + exports_ + " " + flags);
  }

  [[nodiscard]] ProgramResult Train(const std::string& more = "") const {
    return Run(
        "--mode train --data_dir null --model lenet --image_size 28 "
        "--num_label_classes 10 --train_batch_size 8 --train_steps 2 " +
        more);
  }

  // The files of each export.
  [[nodiscard]] std::set<std::set<std::string>> Exports() const {
    std::set<std::set<std::string>> exports;
    for (const auto& folder : fs::directory_iterator(exports_)) {
      std::set<std::string> names;
      for (const auto& file : fs::directory_iterator(folder.path())) {
        names.insert(file.path().filename());
      }
      exports.insert(names);
    }
    return exports;
  }

  TemporaryFolder parent_;
  std::string exports_ = parent_ / "exports";
};

TEST_F(ExportModeTest, ATrainingExportsAtItsEnd) {
  EXPECT_THAT(Succeeded(Train("--format torchscript")).out,
              HasSubstr("exported the model of step 2 to "));
  EXPECT_EQ(Exports(), (std::set<std::set<std::string>>{
                           {"model.torchscript", "preprocessing.json"}}));
}

TEST_F(ExportModeTest, ATrainingThatHasNoStepLeftExportsToo) {
  ASSERT_EQ(Train("--format onnx").exit_code, 0);
  ASSERT_EQ(Train("--format safetensors").exit_code, 0);
  EXPECT_THAT(Exports(), SizeIs(2));
}

TEST_F(ExportModeTest, ExportsACheckpointWithoutItsData) {
  ASSERT_EQ(Train().exit_code, 0);
  fs::remove_all(exports_);
  ASSERT_THAT(Run("--mode export"), Ends(0));
  EXPECT_EQ(Exports(),
            (std::set<std::set<std::string>>{
                {"model.onnx", "model.safetensors", "preprocessing.json"}}));
  const std::string folder = fs::directory_iterator(exports_)->path().string();
  const nlohmann::json facts = nlohmann::json::parse(
      ReadWholeFile(folder + "/preprocessing.json", 1 << 20));
  EXPECT_EQ(facts["trained"]["model"], "lenet");
  EXPECT_EQ(facts["num_label_classes"], 10);
}

TEST_F(ExportModeTest, NeedsACheckpointAndTheAveragesThatItIsToExport) {
  ASSERT_EQ(Train().exit_code, 0);
  EXPECT_THAT(Run("--mode export --export_moving_average true"),
              Ends(2, HasSubstr("moving_average_decay")));
  fs::remove_all(CheckpointFolder(parent_ / "model", 2));
  EXPECT_THAT(Run("--mode export"),
              Ends(2, HasSubstr("no checkpoint to export")));
}

TEST_F(ExportModeTest, ExportsTheMeanOfCheckpoints) {
  ASSERT_EQ(Train("--steps_per_checkpoint 1 --iterations_per_loop 1").exit_code,
            0);
  fs::remove_all(exports_);
  ASSERT_THAT(Run("--mode export --format safetensors --average_checkpoints 2"),
              Ends(0, HasSubstr("the mean of the checkpoints of steps 1, "
                                "2\n")));
  const std::string folder = fs::directory_iterator(exports_)->path().string();
  EXPECT_EQ(ReadSafetensors(folder + "/model.safetensors"),
            AverageCheckpoints(parent_ / "model", 2, 2).weights);
  EXPECT_THAT(ReadWholeFile(folder + "/preprocessing.json", 1 << 20),
              HasSubstr("averaged_steps"));
}

TEST_F(ExportModeTest, RefusesAMeanThatCannotBe) {
  ASSERT_EQ(Train("--steps_per_checkpoint 1 --iterations_per_loop 1 "
                  "--moving_average_decay 0.9 "
                  "--format onnx")
                .exit_code,
            0);
  const auto refuses = [&](const std::string& flags, const std::string& why) {
    EXPECT_THAT(Run(flags), Ends(2, HasSubstr(why)));
  };
  refuses("--mode export --average_checkpoints 2 --checkpoint 1",
          "it has only 1 up to step 1: 1\n");
  refuses("--mode export --average_checkpoints 2 --export_moving_average true",
          "they are two means, give one\n");
  refuses("--mode export --average_checkpoints 2 --resume /elsewhere",
          "needs the checkpoints of model_dir");
  refuses("--mode export --average_checkpoints 0", "--average_checkpoints");
  refuses("--mode train --data_dir null --average_checkpoints 2",
          "--average_checkpoints: is for mode export\n");
}

}  // namespace
}  // namespace infeed
