// Trainings whose folders are all in an object store, killed, stopped, and
// against a store that misbehaves: they end as those on a disk do, to the same
// bytes.

#include "tests/support/cloud_training.h"

#include <signal.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/running_program.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGs = "gs://gs-shards/";
constexpr const char* kS3 = "s3://shards/";

class CloudTrainingTest : public CloudTraining {
 protected:
  // The checksums that this training has on a disk.
  [[nodiscard]] std::string LocalSums(
      const std::vector<std::string>& more = {}) {
    EXPECT_THAT(Train(local_ / "", more), Ends(0));
    return LastSumsOf(local_ / "model");
  }

  // Trains until a checkpoint of this step is in the store, and kills it.
  void KillAfter(const std::string& root, std::int64_t step,
                 const std::vector<std::string>& more) {
    RunningProgram program("train_resnet", Flags(root, more));
    ASSERT_TRUE(AwaitStep(Bucket(root), step));
    program.Signal(SIGKILL);
    EXPECT_EQ(program.Wait(), 128 + SIGKILL) << program.err();
  }

  // A run's inputs and outputs other than its model_dir.
  static std::vector<std::string> Others(const std::string& root) {
    return {"--resnet_checkpoint", root + "weights", "--export_dir",
            root + "exports",      "--format",       "safetensors"};
  }

  // Makes the weights that Others() names, in each place.
  void MakeWeights() {
    ASSERT_THAT(Train(local_ / "before/", {"--seed", "7"}), Ends(0));
    const std::string file =
        PathIn(CheckpointFolder(local_ / "before/model", kSteps), kModelFile);
    const std::string bytes = ReadWholeFile(file, kMaxBytes);
    fs::copy_file(file, local_ / "weights");
    server_.Put("shards/weights", bytes);
    server_.Put("gs-shards/weights", bytes);
  }
};

// The second part runs on the same machine, the third on another.
TEST_F(CloudTrainingTest, GoesOnAfterKillsHereAndOnAnotherMachine) {
  const std::string root = kS3;
  MakeWeights();
  KillAfter(root, 4, Others(root));
  KillAfter(root, 9, Others(root));
  scratch_ = machine_ / "another";
  ASSERT_THAT(Train(root, Others(root)),
              Ends(0, HasSubstr("resuming from the checkpoint at step")));
  EXPECT_EQ(LastSumsIn(Bucket(root)), LocalSums(Others(local_ / "")));
  EXPECT_THAT(StepsIn(Bucket(root)),
              ElementsAre(kSteps - 2, kSteps - 1, kSteps));
  EXPECT_THAT(
      ObjectsBelow(Bucket(root), "exports/"),
      AllOf(HasSubstr("/model.safetensors"), HasSubstr("/preprocessing.json")));
  EXPECT_THAT(server_.OpenUploads(), IsEmpty());
}

// The mirror's path is in the lines that name both, and nowhere else.
TEST_F(CloudTrainingTest, PrintsAndUploadsUrlsOnly) {
  MakeWeights();
  const ProgramResult run = Succeeded(Train(kGs, Others(kGs)));
  EXPECT_THAT(run.err,
              HasSubstr(CheckpointFolder("gs://gs-shards/model", kSteps)));
  std::istringstream lines(run.err + run.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" is mirrored in ") == std::string::npos &&
        !line.starts_with("downloaded ")) {
      EXPECT_THAT(line, Not(HasSubstr(scratch_ + "/")));
    }
  }
  for (const char* name : {"params.yaml", "metrics.jsonl", "report.html"}) {
    EXPECT_THAT(server_.Get(std::string("gs-shards/model/") + name),
                Not(HasSubstr(scratch_ + "/")))
        << name;
  }
}

TEST_F(CloudTrainingTest, WhatTheStoreNeverTookIsUploadedByTheNextRun) {
  server_.SetFaults(R"({"fault": "status", "method": "PUT"})");
  EXPECT_THAT(
      Train(kGs, {"--upload_timeout", "1"}),
      Ends(1, AllOf(HasSubstr("step " + std::to_string(kSteps)),
                    HasSubstr("an upload failed and will be tried again"),
                    HasSubstr("only on this machine, in " + scratch_),
                    HasSubstr("metrics.jsonl"))));
  EXPECT_THAT(ObjectsBelow("gs-shards", "model/"), IsEmpty());
  server_.SetFaults("");
  EXPECT_THAT(Train(kGs),
              Ends(0, AllOf(HasSubstr("uploading 3 checkpoints"),
                            HasSubstr("resuming from the checkpoint at step " +
                                      std::to_string(kSteps)))));
  EXPECT_EQ(LastSumsIn("gs-shards"), LocalSums());
}

TEST_F(CloudTrainingTest, AStopLeavesItsCheckpointInTheStore) {
  RunningProgram program("train_resnet",
                         Flags(kS3, {"--steps_per_checkpoint", "1000"}));
  ASSERT_TRUE(program.ReadUntil("step 1/"));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 75) << program.err();
  EXPECT_THAT(StepsIn("shards"), SizeIs(1));
  ASSERT_THAT(Train(kS3), Ends(0));
  EXPECT_EQ(LastSumsIn("shards"), LocalSums());
}

// Another mode on the model in the store.
std::vector<std::string> OfModel(const std::string& mode,
                                 const std::string& scratch,
                                 const std::vector<std::string>& more) {
  std::vector<std::string> flags = {
      "--mode",   mode,  "--model_dir",         "s3://shards/model",
      "--device", "cpu", "--local_scratch_dir", scratch};
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

TEST_F(CloudTrainingTest, OtherModesTakeTheModelFromTheStore) {
  ASSERT_EQ(Train(kS3).exit_code, 0);
  EXPECT_THAT(
      Succeeded(RunTrainResnet(OfModel("eval", scratch_,
                                       {"--data_dir", "s3://shards/data",
                                        "--eval_split", "train"})))
          .out,
      HasSubstr("evaluation at step 20"));
  EXPECT_THAT(ObjectsBelow("shards", "model/eval/"),
              HasSubstr("/00000020-train-"));

  server_.Put("gs-shards/photos/more/a.jpg",
              TestJpeg({.width = 31, .height = 17}));
  EXPECT_THAT(
      Succeeded(RunTrainResnet(OfModel("predict", scratch_,
                                       {"--input", "gs://gs-shards/photos"})))
          .out,
      HasSubstr("gs://gs-shards/photos/more/a.jpg"));

  EXPECT_THAT(Succeeded(RunTrainResnet(OfModel(
                            "export", scratch_,
                            {"--export_dir", "gs://gs-shards/exports"})))
                  .out,
              HasSubstr("to gs://gs-shards/exports/"));
  EXPECT_THAT(ObjectsBelow("gs-shards", "exports/"), HasSubstr("/model.onnx"));
  EXPECT_THAT(Succeeded(RunTrainResnet(OfModel(
                            "export", scratch_,
                            {"--export_dir", "gs://gs-shards/exports",
                             "--checkpoint", std::to_string(kSteps - 1)})))
                  .out,
              HasSubstr("exported the model of step 19"));
  for (const std::string& name : NamesInFolder(scratch_)) {
    EXPECT_THAT(name, Not(HasSubstr("process-")));
  }
}

TEST_F(CloudTrainingTest, ShowsAStepOfARunThere) {
  ASSERT_EQ(Train(kS3).exit_code, 0);
  const std::string page = "step 2: batch 1 of epoch 0, 8 images: ";
  EXPECT_THAT(
      Succeeded(RunTrainResnet(OfModel("replay", scratch_, {"--step", "2"})))
          .out,
      HasSubstr(page + "s3://shards/model/replay/step_2.html"));
  EXPECT_THAT(ObjectsBelow("shards", "model/replay/"),
              AllOf(HasSubstr("/step_2.html"), HasSubstr("/step_2.jsonl")));
  // Elsewhere, by the oldest checkpoint.
  const TemporaryFolder out;
  EXPECT_THAT(Succeeded(RunTrainResnet(OfModel(
                            "replay", scratch_,
                            {"--step", "2", "--losses", "--out", out.path()})))
                  .out,
              HasSubstr(page + out / "step_2.html"));
  EXPECT_THAT(ReadWholeFile(out / "step_2.html", kMaxBytes),
              HasSubstr("the checkpoint of step 18, 16 steps later"));
}

TEST_F(CloudTrainingTest, GoesOnFromAnotherModelDirThere) {
  ASSERT_EQ(Train(kS3).exit_code, 0);
  for (const char* end : {"model", "model/checkpoint-00000019"}) {
    EXPECT_THAT(
        RunTrainResnet(OfModel("predict", scratch_,
                               {"--resume", std::string(kS3) + end, "--input",
                                "gs://gs-shards/data"})),
        Ends(0, HasSubstr("downloaded s3://shards/" + std::string(end))));
  }
  ASSERT_THAT(Train(kGs, {"--resume", "s3://shards/model"}),
              Ends(0, HasSubstr("resuming from the checkpoint at step 20")));
}

TEST_F(CloudTrainingTest, ErrorsNameWhatTheUserGave) {
  EXPECT_THAT(
      RunTrainResnet(OfModel("eval", scratch_, {"--data_dir", "null"})),
      Ends(2, HasSubstr("model_dir=s3://shards/model: no such model folder")));
  EXPECT_THAT(
      RunTrainResnet({"--mode", "train", "--data_dir", "null", "--model_dir",
                      "https://host/model", "--local_scratch_dir", scratch_}),
      Ends(2, HasSubstr("model_dir=https://host/model: not a folder")));
}

TEST_F(CloudTrainingTest, HasNoSecretInAnythingItLeaves) {
  server_.SetFaults(R"({"fault": "status", "method": "PUT", "next": 6})");
  const ProgramResult run =
      Succeeded(Train(kS3, {"--export_dir", "gs://gs-shards/e"}));
  Set("AWS_SECRET_ACCESS_KEY", "wrong/Secret+of/the+tests");
  const ProgramResult refused = Train(kS3);
  EXPECT_EQ(refused.exit_code, 1);
  std::string all = run.out + run.err + refused.out + refused.err;
  for (const char* bucket : {"shards", "gs-shards"}) {
    for (const std::string& key : server_.Keys(bucket)) {
      all += server_.Get(std::string(bucket) + "/" + key);
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(machine_.path())) {
    if (entry.is_regular_file()) {
      all += ReadWholeFile(entry.path().string(), kMaxBytes);
    }
  }
  ASSERT_THAT(all, HasSubstr("\"event\":\"end\""));
  EXPECT_THAT(all,
              AllOf(Not(HasSubstr(std::string(kS3SecretKey))),
                    Not(HasSubstr(std::string(kGsSecretKey))),
                    Not(HasSubstr("wrong/Secret")), Not(HasSubstr("AWS4-HMAC")),
                    Not(HasSubstr("Signature="))));
}

}  // namespace
}  // namespace infeed
