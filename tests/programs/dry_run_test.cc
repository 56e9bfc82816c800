// A dry run finds what its run would find, with the run's exit code.

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "records/files/folder_claim.h"
#include "records/files/shards.h"
#include "tests/support/files_in.h"
#include "tests/support/matchers.h"
#include "tests/support/small_model.h"
#include "trainer/results/model_dir.h"

namespace infeed::dry_run {
namespace {

namespace fs = std::filesystem;

class DryRunTest : public testing::Test {
 protected:
  [[nodiscard]] std::string Train(const std::string& more = "") const {
    return "--data_dir " + model_.data_dir() + " --params_override " +
           SmallModel::kParameters + ",train_steps=3 " + more;
  }
  [[nodiscard]] std::string Other(const std::string& mode,
                                  const std::string& more = "") const {
    return "--mode " + mode + " --data_dir " + model_.data_dir() + " " + more;
  }

  [[nodiscard]] static ProgramResult Run(const std::string& model,
                                         const std::string& flags) {
    return RunTrainResnet("--device cpu --model_dir " + model + " " + flags);
  }

  // Runs a command that has a problem, dry and not.
  void ExpectSame(const std::string& flags, int code,
                  const std::string& other = "") const {
    const std::string& model = other.empty() ? model_.folder() : other;
    const ProgramResult dry = Run(model, flags + " --dry_run");
    EXPECT_EQ(dry.exit_code, code) << flags << "\n" << dry.err;
    EXPECT_THAT(dry.err, HasSubstr("problem: ")) << flags;
    EXPECT_THAT(dry.err, testing::Not(HasSubstr(" 0 problems found")));
    const ProgramResult run = Run(model, flags);
    EXPECT_EQ(run.exit_code, code) << flags << "\n" << run.err;
    // The run's own words.
    const std::size_t start = dry.err.find("problem: ") + 9;
    const std::string first =
        dry.err.substr(start, dry.err.find('\n', start) - start);
    EXPECT_THAT(run.err, HasSubstr(first)) << flags;
  }

  SmallModel model_;
  TemporaryFolder folder_;
};

TEST_F(DryRunTest, FindsProblemsOfTheStart) {
  ExpectSame(Train("--resume never"), 2);
  ExpectSame(Train("--resume 77"), 2);
  ExpectSame(Train("--resume best"), 2);
  ExpectSame(Train("--seed 7"), 2);
  ExpectSame(Train("--normalization unit"), 2);
  ExpectSame(Other("eval", "--normalization unit"), 2);
  ExpectSame(Train("--learning_rate_schedule plateau --mode train"), 2);
  ExpectSame(Train("--early_stop loss:3 --mode train"), 2);
  ExpectSame(Train("--epoch_lines true --mode train"), 2);
  ExpectSame(Train("--keep_best top_5"), 2);  // of four classes
  ExpectSame(Train("--keep_best auc_at_half"), 2);
  ExpectSame(Train("--early_stop top_5:3"), 2);
  ExpectSame(Train("--learning_rate_schedule plateau --plateau top_5:3"), 2);
  ExpectSame(Train("--eval_split test"), 2);
  ExpectSame(Train("--export_dir /dev/null/x"), 1);
  ExpectSame(Train("--trace " + folder_.path()), 1);
  ExpectSame(Train("--metrics_file " + folder_.path()), 1);
  ExpectSame(Train("--local_ranks 3"), 2);  // of batches of 8
  ExpectSame(Train("--distill_from " + folder_ / "none"), 2);
  std::ofstream(BestPath(model_.folder())) << "{";
  ExpectSame(Train("--keep_best top_1"), 3);
  fs::remove(BestPath(model_.folder()));
  std::ofstream(EvaluationsPath(model_.folder())) << "{";
  ExpectSame(Train(), 3);
  ExpectSame(Train("--mode train"), 3);
}

TEST_F(DryRunTest, FindsProblemsOfWeights) {
  const std::string fresh = folder_ / "fresh";
  ExpectSame(Train("--resnet_checkpoint " + folder_ / "none.pth"), 1, fresh);
  ExpectSame(Train("--resnet_checkpoint no_such_name"), 2, fresh);
  ExpectSame(Train("--resnet_checkpoint " + folder_.path()), 2, fresh);
  std::ofstream(folder_ / "bad.safetensors") << "nothing";
  ExpectSame(Train("--resnet_checkpoint " + folder_ / "bad.safetensors"), 3,
             fresh);
  ExpectSame(Train("--resume " + folder_ / "none"), 2, fresh);
}

TEST_F(DryRunTest, FindsProblemsOfOtherModes) {
  ExpectSame(Other("eval", "--eval_split test"), 2);
  ExpectSame(Other("eval", "--checkpoint 9"), 2);
  ExpectSame(Other("predict", "--input " + folder_ / "none.jpg"), 1);
  ExpectSame(Other("predict", "--predictions_page " + folder_ / "no/page.html"),
             1);
  ExpectSame(Other("export", "--export_dir /dev/null/x"), 1);
  ExpectSame(Other("export", "--export_dir " + folder_ / "x" +
                                 " --average_checkpoints 5"),
             2);
  ExpectSame(Other("eval"), 2, folder_ / "none");
}

TEST_F(DryRunTest, FindsDamagedCheckpoints) {
  for (const int step : {1, 2}) {
    const std::string file =
        PathIn(CheckpointFolder(model_.folder(), step), kModelFile);
    fs::remove(file);
    fs::create_directory(file);
  }
  ExpectSame(Train(), 4);
  ExpectSame(Other("eval"), 4);
  ExpectSame(Other("predict"), 4);
  ExpectSame(Other("export", "--export_dir " + folder_ / "x"), 4);
}

TEST_F(DryRunTest, FindsAModelFolderThatCannotBeWritten) {
  ExpectSame(Train(), 1, "/dev/null/x");
  fs::remove_all(EvalFolder(model_.folder()));
  std::ofstream(EvalFolder(model_.folder())) << "a file";
  ExpectSame(Train(), 1);
  ExpectSame(Other("eval"), 1);
  fs::remove(EvalFolder(model_.folder()));
  const FolderClaim claim(model_.folder(), ".lock", FolderClaim::Kind::kAlone);
  ExpectSame(Train(), 2);
}

// Substitutes, most of which are bad, too, do not count.
TEST_F(DryRunTest, CountsTheBadImages) {
  std::vector<std::string> payloads = PayloadsOfFourClasses(8);
  for (std::size_t i = 2; i < payloads.size(); ++i) {
    payloads[i] = PayloadWithImage("no image", 0);
  }
  const std::string data = folder_ / "data";
  fs::create_directories(data);
  WriteShard(data + "/" + ShardName("train", 0, 1), payloads);
  const ProgramResult run =
      RunTrainResnet("--dry_run --device cpu --model_dir " + folder_ / "new" +
                     " --data_dir " + data + " --params_override " +
                     SmallModel::kParameters + ",num_eval_images=0");
  // Of one batch, and of later ones that were made in the meantime.
  std::smatch counts;
  ASSERT_TRUE(std::regex_search(
      run.err, counts,
      std::regex(R"( (\d+) of the first (\d+) images are bad; the first: )")))
      << run.err;
  const int bad = std::stoi(counts[1]);
  EXPECT_GE(bad, 1);
  EXPECT_LE(bad, std::stoi(counts[2]));
}

TEST_F(DryRunTest, EndsWhereAnEvaluationWouldOfBadRecords) {
  std::vector<std::string> payloads = PayloadsOfFourClasses(8);
  for (std::size_t i = 2; i < payloads.size(); ++i) {
    payloads[i] = PayloadWithImage("no image", 0);
  }
  const std::string data = folder_ / "bad";
  fs::create_directories(data);
  WriteShard(data + "/" + ShardName("validation", 0, 1), payloads);
  for (const auto& [policy, code] : {std::pair("on_bad_record=skip", 0),
                                     {"on_bad_record=fail", 3},
                                     {"max_bad_records=2", 3}}) {
    for (const char* dry : {"", " --dry_run"}) {
      const ProgramResult run =
          Run(model_.folder(), "--mode eval --data_dir " + data +
                                   " --params_override " + policy + dry);
      EXPECT_EQ(run.exit_code, code) << policy << dry << "\n" << run.err;
    }
  }
}

TEST_F(DryRunTest, WritesNothingAndSaysWhatWouldRun) {
  const std::map<std::string, std::string> before = FilesBelow(model_.folder());
  const ProgramResult train = Succeeded(model_.Run(Train("--dry_run")));
  EXPECT_THAT(train.err, HasSubstr("would train from step 2 to 3 in loops of"));
  EXPECT_THAT(train.err, HasSubstr("0 problems found"));
  // All classes have four images.
  EXPECT_THAT(model_.Run(Train("--loss_class_weights balanced --dry_run")).err,
              HasSubstr("weights of 4 classes, 1 to 1\n"));
  EXPECT_THAT(model_.Run(Train("--resume 1 --dry_run")),
              Ends(2, HasSubstr("checkpoints of later steps, 2, would stay")));
  EXPECT_THAT(model_.Run(Train("--moving_average_decay 0.9 --dry_run")),
              Ends(2, HasSubstr("checkpoint of step 2 has no moving average")));
  const ProgramResult from = model_.Run(Train("--resume 1 --force --dry_run"));
  EXPECT_THAT(from.err, HasSubstr("would train from step 1 to 3 in loops of"));
  for (const auto& [mode, flags] : std::map<std::string, std::string>{
           {"eval", ""},
           {"predict", ""},
           {"export", "--export_dir " + folder_ / "x"}}) {
    const ProgramResult run =
        Succeeded(model_.Run(Other(mode, flags + " --dry_run")));
    EXPECT_THAT(run.err, HasSubstr("0 problems found"));
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(FilesBelow(model_.folder()), before);
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

}  // namespace
}  // namespace infeed::dry_run
