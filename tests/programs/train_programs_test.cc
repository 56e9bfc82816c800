// From raw files through the converter to a trained LeNet: the ways that
// docs/training.md shows, on few and simple images.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/image.h"
#include "tests/support/gloo.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/metrics_lines.h"
#include "tests/support/raw_bytes.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_resnet.h"

namespace infeed {
namespace {

constexpr int kSide = 28;
constexpr int kClasses = 4;

// On black a bright bar, lying or upright, a square or a cross; `number` moves
// it.
std::string Digit(int label, int number) {
  std::string pixels(kSide * kSide, '\0');
  const auto paint = [&](int height, int width) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int row = 14 + y - height / 2 + number % 5 - 2;
        const int column = 14 + x - width / 2 + number % 7 - 3;
        pixels[static_cast<std::size_t>(row * kSide + column)] =
            static_cast<char>(200 + number % 50);
      }
    }
  };
  if (label == 2) {
    paint(9, 9);
  }
  if (label == 0 || label == 3) {
    paint(4, 16);
  }
  if (label == 1 || label == 3) {
    paint(16, 4);
  }
  return pixels;
}

// The digit as an RGB image.
RgbImage Picture(const std::string& digit) {
  RgbImage image;
  image.Resize(kSide, kSide);
  for (int y = 0; y < kSide; ++y) {
    for (int i = 0; i < 3 * kSide; ++i) {
      image.row(y)[i] = static_cast<std::uint8_t>(
          digit[static_cast<std::size_t>(y * kSide + i / 3)]);
    }
  }
  return image;
}

class TrainProgramsTest : public testing::Test {
 protected:
  static constexpr int kTrain = 160;
  static constexpr int kTest = 12;

  TrainProgramsTest() = default;

  void Convert(const std::string& flags) const {
    ASSERT_THAT(
        RunProgram("imagenet_to_records",
                   "--raw_data_dir " + raw_.path() + " --local_scratch_dir " +
                       shards() + " --shards 2 " + flags),
        Ends(0));
  }

  // MNIST's files, of images of ours.
  void ConvertIdx() {
    for (const auto& [split, count] :
         std::map<std::string, int>{{"train", kTrain}, {"t10k", kTest}}) {
      std::string pixels;
      std::string labels;
      for (int i = 0; i < count; ++i) {
        pixels += Digit(i % kClasses, i);
        labels.push_back(static_cast<char>(i % kClasses));
      }
      const auto images = static_cast<std::uint32_t>(count);
      raw_.File(split + "-images-idx3-ubyte",
                IdxBytes({images, kSide, kSide}, pixels))
          .File(split + "-labels-idx1-ubyte", IdxBytes({images}, labels));
    }
    Convert("--raw_format idx");
  }

  [[nodiscard]] std::string shards() const { return work_ / "shards"; }

  [[nodiscard]] ProgramResult Train(const std::string& model,
                                    const std::string& flags) const {
    return RunTrainResnet("--data_dir " + shards() + " --model_dir " +
                          (work_ / model) + " --device cpu " + flags);
  }

  [[nodiscard]] std::map<int, nlohmann::json> Events(
      const std::string& model, const std::string& event) const {
    return MetricsLines(work_ / model, event);
  }

  [[nodiscard]] std::vector<double> Losses(const std::string& model) const {
    return TrainLosses(work_ / model);
  }

  // Of all that was fed until each loop's end.
  [[nodiscard]] std::vector<std::string> Fingerprints(
      const std::string& model) const {
    std::vector<std::string> fingerprints;
    for (const auto& [step, loop] : Events(model, "loop")) {
      fingerprints.push_back(loop["input_fingerprint"]);
    }
    return fingerprints;
  }

  [[nodiscard]] nlohmann::json StreamOf(const std::string& model,
                                        const std::string& checkpoint) const {
    std::ifstream file(work_ / model + "/" + checkpoint + "/state.json");
    return nlohmann::json::parse(file).at("stream");
  }

  ImageFolder raw_;
  TemporaryFolder work_;
};

// Batches of 12: thirteen whole ones and one of 4.
constexpr const char* kX10 =
    "--preset x10_lenet --train_batch_size 12 --eval_batch_size 8";

TEST_F(TrainProgramsTest, LearnsMnistsFilesByTheTutorialsRecipe) {
  ConvertIdx();
  const ProgramResult result =
      Succeeded(Train("model", std::string(kX10) + " --train_epochs 6"));
  EXPECT_THAT(
      result.out,
      ContainsRegex("\\[Epoch 6\\] Training Loss: [0-9.]+, Training "
                    "Accuracy: [0-9]+/160 \\([0-9.]+%\\), Test Loss: [0-9.]+, "
                    "Test Accuracy: [0-9]+/12 \\([0-9.]+%\\) seconds per "
                    "epoch: [0-9.]+\n"));
  const std::vector<double> losses = Losses("model");
  ASSERT_EQ(losses.size(), 84U);
  EXPECT_NEAR(losses.front(), 2.303, 0.3);  // ln 10
  EXPECT_LT(losses.back(), 0.5 * losses.front());
  EXPECT_EQ(Events("model", "eval").size(), 6U);
}

TEST_F(TrainProgramsTest, LearnsPngFoldersByOurBestRecipe) {
  for (int i = 0; i < kTrain + kTest; ++i) {
    const std::string split = i < kTrain ? "train/" : "test/";
    const int label = i % kClasses;
    raw_.File(split + std::to_string(label) + "/" + std::to_string(i) + ".png",
              EncodePng(Picture(Digit(label, i)).view()));
  }
  Convert("--keep_png");
  ASSERT_THAT(
      Train("model",
            "--preset lenet_best --epoch_lines=false --train_batch_size 8 "
            "--train_epochs 3 --steps_per_eval 60"),
      Ends(0));
  const std::vector<double> losses = Losses("model");
  ASSERT_EQ(losses.size(), 60U);
  EXPECT_LT(losses.back(), 0.9 * losses.front());
  EXPECT_EQ(Events("model", "eval").at(60)["images"], kTest);
}

TEST_F(TrainProgramsTest, RefusesEpochLinesWithoutEvaluationsAtEpochsEnds) {
  ConvertIdx();
  EXPECT_THAT(Train("model", std::string(kX10) + " --steps_per_eval 3").err,
              HasSubstr("steps_per_eval=3 does not divide its 14 steps"));
}

// 160 images in batches of 48: epochs end after steps 3, 6 and 10.
TEST_F(TrainProgramsTest, CarriesBatchesIntoTheNextEpoch) {
  ConvertIdx();
  const std::string flags =
      std::string(kX10) + " --train_batch_size 48 --last_batch carry ";
  const ProgramResult whole =
      Succeeded(Train("whole", flags + "--train_epochs 3"));
  std::vector<int> steps;
  for (const auto& [step, eval] : Events("whole", "eval")) {
    steps.push_back(step);
  }
  EXPECT_THAT(steps, testing::ElementsAre(3, 6, 10));
  EXPECT_THAT(whole.out, AllOf(HasSubstr("[Epoch 1] "), HasSubstr("/144 ("),
                               HasSubstr("[Epoch 3] "), HasSubstr("/192 (")));
  // Stopped after a batch of two epochs.
  ASSERT_EQ(Train("parts", flags + "--train_steps 4").exit_code, 0);
  const ProgramResult rest =
      Succeeded(Train("parts", flags + "--train_epochs 3"));
  EXPECT_EQ(Losses("parts"), Losses("whole"));
  EXPECT_THAT(rest.out, HasSubstr("[Epoch 3] "));

  EXPECT_THAT(Train("other", flags + "--train_epochs 3 --steps_per_eval 3"),
              Ends(2, HasSubstr("leave steps_per_eval=3 out")));
}

// 160 digits of four classes: three of weight 1, and one of weight 3.
TEST_F(TrainProgramsTest, TrainsOnASelectionThatIsExactUnderStopsAndRanks) {
  ConvertIdx();
  const std::string weights = work_ / "weights";
  WriteFileAtomically(weights, "0 1\n1 1\n2 3\n3 1\n");
  const std::string flags = std::string(kX10) +
                            " --epoch_lines=false --iterations_per_loop 3 "
                            "--mode train --class_weights " +
                            weights;
  EXPECT_THAT(
      Train("none", flags + " --dry_run"),
      Ends(0, HasSubstr("an epoch has 160 images: class 0 27 (of 40 records), "
                        "class 1 27 (of 40 records), class 2 80 (of 40 "
                        "records), class 3 26 (of 40 records)")));
  ASSERT_EQ(Train("whole", flags + " --train_steps 15").exit_code, 0);
  EXPECT_EQ(Losses("whole").size(), 15U);
  ASSERT_EQ(Train("parts", flags + " --train_steps 6").exit_code, 0);
  ASSERT_EQ(Train("parts", flags + " --train_steps 15").exit_code, 0);
  EXPECT_EQ(Losses("parts"), Losses("whole"));
  const std::vector<std::string> fed = Fingerprints("whole");
  EXPECT_EQ(std::set<std::string>(fed.begin(), fed.end()).size(), 5U);
  EXPECT_EQ(Fingerprints("parts"), fed);
  EXPECT_EQ(StreamOf("parts", "checkpoint-00000015"),
            StreamOf("whole", "checkpoint-00000015"));
  EXPECT_EQ(StreamOf("whole", "checkpoint-00000015")["fingerprint"],
            fed.back());
  EXPECT_FALSE(Events("whole", "loop").at(3).contains("input_hash"));
  const std::string pixels = " --train_steps 6 --input_hash pixels";
  ASSERT_EQ(Train("pixels", flags + pixels).exit_code, 0);
  EXPECT_EQ(Events("pixels", "loop").at(3)["input_hash"], "pixels");
  EXPECT_NE(Fingerprints("pixels")[0], fed[0]);
  if (kHasGloo) {
    ASSERT_EQ(
        Train("ranks", flags + " --train_steps 15 --local_ranks 2").exit_code,
        0);
    EXPECT_EQ(Fingerprints("ranks"), fed);
    // Equal images, but sums are rounded in another order.
    EXPECT_THAT(Losses("ranks"),
                testing::Pointwise(testing::DoubleNear(1e-3), Losses("whole")));
  }

  EXPECT_THAT(
      Train("parts", std::string(kX10) +
                         " --epoch_lines=false --mode train --class_weights "
                         "balanced --train_steps 20"),
      Ends(2, HasSubstr("belongs to another run: selection is")));
}

TEST_F(TrainProgramsTest, MixesDataSetsByWeight) {
  ConvertIdx();
  const std::string flags = std::string(kX10) +
                            " --epoch_lines=false --mode train --train_steps 3 "
                            "--mix " +
                            shards() + "=1," + shards() + "=3";
  ASSERT_THAT(Train("mixed", flags),
              Ends(0, HasSubstr("an epoch has 320 images: " + shards() +
                                " 80 (of 160 records), " + shards() +
                                " 240 (of 160 records)")));
  EXPECT_EQ(Losses("mixed").size(), 3U);
  EXPECT_THAT(Train("none", flags + " --class_weights balanced"),
              Ends(2, HasSubstr("give one of class_weights")));
}

TEST_F(TrainProgramsTest, MeasuresTheDeviceAloneOnFakeData) {
  const std::string flags =
      "--data_dir null --device cpu --model_dir " + (work_ / "fake") +
      " --preset x10_lenet --epoch_lines=false --train_batch_size 4 "
      "--eval_batch_size 2 --num_train_images 16 --train_steps 4 "
      "--steps_per_eval 2";
  EXPECT_THAT(RunTrainResnet(flags + " --dry_run").err,
              AllOf(HasSubstr("fake: one batch of random images"),
                    HasSubstr("4 x 28 x 28 pixels: 3136 words of 32 "
                              "bits; up to ")));
  ASSERT_THAT(RunTrainResnet(flags), Ends(0));
  const std::map<int, nlohmann::json> evals = Events("fake", "eval");
  ASSERT_EQ(evals.size(), 2U);
  EXPECT_EQ(evals.at(2)["images"], 20);  // Ten steps.
  EXPECT_EQ(Losses("fake").size(), 4U);
  EXPECT_FALSE(Events("fake", "loop")[0].contains("input_fingerprint"));

  EXPECT_THAT(Succeeded(RunTrainResnet(flags + " --mode eval")).out,
              HasSubstr("evaluation at step 4"));

  // Exactly the requested number, even if it does not fill a batch.
  const ProgramResult predicted = Succeeded(
      RunTrainResnet("--data_dir= --device cpu --model_dir " +
                     (work_ / "fake") + " --mode predict --num_test_images 5"));
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 5);
  EXPECT_THAT(predicted.out, HasSubstr("{\"file\":null,\"record\":4,"));
  EXPECT_EQ(RunTrainResnet("--data_dir= --device cpu --model_dir " +
                           (work_ / "fake") +
                           " --mode predict --predictions_page page.html")
                .exit_code,
            2);
}

// The names of the spans in all profiles of a model.
std::set<std::string> SpansOf(const std::string& model) {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(model + "/plugins/profile")) {
    std::ifstream file(entry.path() / "train_resnet.pt.trace.json");
    const nlohmann::json trace = nlohmann::json::parse(file);
    for (const nlohmann::json& event : trace["traceEvents"]) {
      names.insert(event["name"].get<std::string>());
    }
  }
  return names;
}

TEST_F(TrainProgramsTest, ProfilesEveryThreadOfATraining) {
  ConvertIdx();
  ASSERT_THAT(
      Train("profiled", std::string(kX10) +
                            " --train_steps 12 --epoch_lines=false "
                            "--iterations_per_loop 2 --steps_per_eval 6 "
                            "--profile_every_n_steps 4"),
      Ends(0));
  EXPECT_THAT(SpansOf(work_ / "profiled"),
              testing::IsSupersetOf({"loop", "step", "result", "evaluation",
                                     "aten::convolution_backward"}));
  const auto profiles = Events("profiled", "profile");
  ASSERT_GE(profiles.size(), 1U);
  const nlohmann::json& profile = profiles.begin()->second;
  EXPECT_EQ(profile.at("dearest_operations").size(), 10U);
  EXPECT_GT(profile.at("operations_on_host"), 0);
  EXPECT_THAT(ReadWholeFile(work_ / "profiled/report.html", 1 << 24),
              HasSubstr("The dearest operations after step"));
}

TEST_F(TrainProgramsTest, GoesOnFromFakeDataWithFakeDataAlone) {
  ConvertIdx();
  const std::string flags =
      " --epoch_lines=false --num_train_images 16 --train_steps 2";
  ASSERT_EQ(RunTrainResnet("--data_dir null --device cpu "
                           "--model_dir " +
                           (work_ / "model") + " " + kX10 + flags)
                .exit_code,
            0);
  EXPECT_THAT(Train("model", kX10 + flags),
              Ends(2, HasSubstr("its checkpoint belongs to another run")));
}

}  // namespace
}  // namespace infeed
