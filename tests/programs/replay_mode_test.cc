// The program train_resnet --mode replay.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/small_model.h"
#include "tests/support/temporary_folder.h"
#include "trainer/results/model_dir.h"

namespace infeed::replay_mode_test {

namespace fs = std::filesystem;

using nlohmann::json;

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ReplayModeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = new SmallModel; }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }
  [[nodiscard]] static ProgramResult Replay(const std::string& flags) {
    return model_->Run("--mode replay " + flags);
  }

  // Shared by all tests, which add only replays.
  static SmallModel* model_;
  TemporaryFolder out_;
};

SmallModel* ReplayModeTest::model_ = nullptr;

// The two steps took each of the 16 images once.
TEST_F(ReplayModeTest, ShowsWhatTheStepsWereTrainedOn) {
  const ProgramResult run = Replay("--step 1,2");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string stem = model_->folder() + "/replay/step_";
  EXPECT_EQ(run.out, "step 1: batch 0 of epoch 0, 8 images: " + stem +
                         "1.html\nstep 2: batch 1 of epoch 0, 8 images: " +
                         stem + "2.html\n");
  std::set<std::int64_t> records;
  for (const std::string step : {"1", "2"}) {
    const std::vector<json> lines = JsonLines(TextOf(stem + step + ".jsonl"));
    ASSERT_THAT(lines, SizeIs(8));
    const std::string page = TextOf(stem + step + ".html");
    for (const json& line : lines) {
      const auto record = line["record"].get<std::int64_t>();
      records.insert(record);
      EXPECT_EQ(line["label"], record % 4);
      EXPECT_EQ(line["file"], "image.JPEG");
      EXPECT_EQ(line["shard"], model_->data_dir() + "/train-00000-of-00001");
      EXPECT_FALSE(line.contains("loss"));
      EXPECT_THAT(page, HasSubstr("record " + std::to_string(record) + "<br>"));
    }
  }
  EXPECT_THAT(records, SizeIs(16));
}

TEST_F(ReplayModeTest, HasEachImagesLossTheWorstFirst) {
  const ProgramResult run = Replay("--step 2 --losses --out " + out_.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<json> lines = JsonLines(TextOf(out_ / "step_2.jsonl"));
  ASSERT_THAT(lines, SizeIs(8));
  for (const json& line : lines) {
    const auto loss = line["loss"].get<double>();
    const auto of_predicted = -std::log(line["probability"].get<double>());
    if (line["predicted"] == line["label"]) {
      EXPECT_NEAR(loss, of_predicted, 1e-3);
    } else {
      EXPECT_GE(loss, of_predicted - 1e-3);
    }
  }
  std::ranges::stable_sort(lines, [](const json& a, const json& b) {
    return a["loss"].get<double>() > b["loss"].get<double>();
  });
  const std::string page = TextOf(out_ / "step_2.html");
  EXPECT_THAT(page, HasSubstr("the checkpoint of step 2:"));
  std::size_t last = 0;
  for (const json& line : lines) {
    const std::size_t at = page.find(
        "record " + std::to_string(line["record"].get<int>()) + "<br>");
    EXPECT_NE(at, std::string::npos);
    EXPECT_GT(at, last);
    last = at;
  }
}

TEST_F(ReplayModeTest, TakesTheDataFromAnotherPlaceIfItIsTheSame) {
  const TemporaryFolder copy;
  fs::copy(model_->data_dir(), copy.path(), fs::copy_options::recursive);
  const std::string flags =
      "--step 1 --out " + out_.path() + " --data_dir " + copy.path();
  const ProgramResult run = Replay(flags);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(JsonLines(TextOf(out_ / "step_1.jsonl"))[0]["shard"],
            copy / "train-00000-of-00001");
  TfrecordWriter writer(copy / "train-00000-of-00001");
  for (int i = 0; i < 16; ++i) {
    writer.Append(TestPayload((i + 1) % 4));
  }
  writer.Close();
  const ProgramResult other = Replay(flags);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("data_dir=" + copy.path() +
                                   ": it is not the data of the run in " +
                                   model_->folder() +
                                   ": the shard train-00000-of-00001 is "
                                   "another one"));
}

// Refused before anything is written, so that its steps can still be replayed.
TEST_F(ReplayModeTest, ARefusedResumeLeavesTheRunAsItIs) {
  const TemporaryFolder copy;
  fs::copy(model_->folder(), copy.path(), fs::copy_options::recursive);
  fs::remove_all(CheckpointFolder(copy.path(), 2));
  const auto files = [&] {
    return TextOf(ParamsPath(copy.path())) + TextOf(MetricsPath(copy.path()));
  };
  const std::string before = files();
  for (const auto& [more, why] :
       {std::pair("train_batch_size=5 --force",
                  "the stream cannot start at position 8: give a multiple of "
                  "batch_size 5"),
        std::pair("memory_limit=1048576", "memory_limit is 1.0 MiB, but ")}) {
    for (const std::string dry : {"", " --dry_run"}) {
      EXPECT_THAT(
          RunTrainResnet("--device cpu --data_dir " + model_->data_dir() +
                         " --model_dir " + copy.path() + " --params_override " +
                         SmallModel::kParameters + "," + more + dry),
          Ends(2, HasSubstr(why)));
      EXPECT_EQ(files(), before) << more << dry;
    }
  }
  EXPECT_THAT(RunTrainResnet("--mode replay --step 2 --model_dir " +
                             copy.path() + " --out " + out_.path()),
              Ends(0));
}

TEST_F(ReplayModeTest, NamesWhatIsNotThere) {
  const ProgramResult step = Replay("--step 3");
  EXPECT_EQ(step.exit_code, 2);
  EXPECT_THAT(step.err, HasSubstr("step=3: the run in " + model_->folder() +
                                  " has 2 steps"));
  const ProgramResult rank = Replay("--step 1 --rank 1");
  EXPECT_EQ(rank.exit_code, 2);
  EXPECT_THAT(rank.err, HasSubstr("rank=1: step 1 was made by one rank"));
  const ProgramResult weights =
      Replay("--step 1 --resnet_checkpoint " + out_.path());
  EXPECT_EQ(weights.exit_code, 2);
  EXPECT_THAT(weights.err,
              HasSubstr("resnet_checkpoint=" + out_.path() +
                        ": not used, as mode replay has the checkpoints of "
                        "model_dir; leave it out"));
  const ProgramResult run =
      RunTrainResnet("--mode replay --step 1 --model_dir " + out_.path());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("no run is recorded there"));
}

TEST_F(ReplayModeTest, TakesALaterCheckpointWhereNoEarlierOneIsLeft) {
  const TemporaryFolder copy;
  fs::copy(model_->folder(), copy.path(), fs::copy_options::recursive);
  const auto replay = [&] {
    return RunTrainResnet(
        "--device cpu --mode replay --step 1 --losses --model_dir " +
        copy.path());
  };
  fs::remove_all(copy / "checkpoint-00000001");
  const ProgramResult later = replay();
  ASSERT_EQ(later.exit_code, 0) << later.err;
  EXPECT_THAT(TextOf(copy / "replay/step_1.html"),
              HasSubstr("the checkpoint of step 2, 1 step later:"));
  fs::remove_all(copy / "checkpoint-00000002");
  const ProgramResult none = replay();
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err,
              HasSubstr(copy.path() + " has no undamaged checkpoint"));
}

}  // namespace infeed::replay_mode_test
