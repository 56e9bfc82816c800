// The program train_resnet: whole runs on small shards, in this process unless
// they get signals.

#include "tests/support/train_resnet.h"

#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/files/shards.h"
#include "tests/support/environment_variable.h"
#include "tests/support/gloo.h"
#include "tests/support/matchers.h"
#include "tests/support/metrics_lines.h"
#include "tests/support/packed_payload.h"
#include "tests/support/running_program.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// 16 images of 4 classes for training, 10 for validation; batches of 8, so
// that an epoch has two steps and 18 steps have four learning rates.
class TrainResnetTest : public testing::Test {
 protected:
  static constexpr const char* kSmall =
      "model=lenet,image_size=28,train_batch_size=8,train_steps=18,"
      "iterations_per_loop=3,base_learning_rate=0.5,precision=float32";
  // For parameters that LeNet lacks, and where a run must not end too early.
  static constexpr const char* kResNet =
      "model=resnet,resnet_depth=18,image_size=32,";
  static constexpr const char* kTraining = "--mode train --device cpu";

  TrainResnetTest() {
    WriteShard(data_, "train", PayloadsOfFourClasses(16));
    WriteShard(data_, "validation", PayloadsOfFourClasses(10));
  }

  [[nodiscard]] std::string Model(const std::string& name) const {
    return models_ / name;
  }

  [[nodiscard]] std::string Params(const std::string& model) const {
    return ReadWholeFile(Model(model) + "/params.yaml", 1 << 20);
  }

  [[nodiscard]] std::vector<std::string> Arguments(
      const std::string& model, const std::string& more,
      const std::string& flags = kTraining) const {
    return ShellWords("--data_dir " + data_.path() + " --model_dir " +
                      Model(model) + " --params_override '" + kSmall +
                      (more.empty() ? "" : "," + more) + "' " + flags);
  }

  // Runs to the end.
  [[nodiscard]] ProgramResult Train(
      const std::string& model, const std::string& more = "",
      const std::string& flags = kTraining) const {
    return RunTrainResnet(Arguments(model, more, flags));
  }

  [[nodiscard]] std::map<int, nlohmann::json> Metrics(
      const std::string& model, const std::string& event) const {
    return MetricsLines(Model(model), event);
  }

  void ExpectSameSteps(const std::string& one, const std::string& other) const {
    const auto expected = Metrics(one, "train");
    const auto actual = Metrics(other, "train");
    ASSERT_EQ(expected.size(), 18U);
    ASSERT_EQ(actual.size(), 18U);
    for (const auto& [step, values] : expected) {
      // Bit for bit: JSON keeps all digits of a double.
      EXPECT_EQ(values["loss"], actual.at(step)["loss"]) << "step " << step;
      EXPECT_EQ(values["learning_rate"], actual.at(step)["learning_rate"]);
      EXPECT_EQ(values["top_1"], actual.at(step)["top_1"]);
    }
  }

  TemporaryFolder data_;
  TemporaryFolder models_;
};

TEST_F(TrainResnetTest, GoesOnAfterASignalAsIfNeverStopped) {
  ASSERT_EQ(Train("straight", kResNet).exit_code, 0);
  const std::string saving = kResNet + std::string("steps_per_checkpoint=3");
  for (;;) {
    RunningProgram run("train_resnet", Arguments("stopped", saving));
    ASSERT_TRUE(run.ReadUntil("checkpoint at step 3")) << run.err();
    run.Signal(SIGTERM);
    const int ended = run.Wait();
    if (Metrics("stopped", "train").contains(18)) {  // It was faster.
      fs::remove_all(Model("stopped"));
      continue;
    }
    ASSERT_EQ(ended, 75) << run.err();
    EXPECT_THAT(run.err(),
                AllOf(HasSubstr("stopping after this step; a second signal "
                                "ends it now without saving\n"),
                      HasSubstr("the same command resumes from there")));
    break;
  }
  const auto ends = Metrics("stopped", "end");
  ASSERT_FALSE(ends.empty());
  EXPECT_EQ(ends.begin()->second["state"], "stopped");
  EXPECT_GT(ends.begin()->second["peak_memory_bytes"], 1 << 20);
  const std::string environment =
      Metrics("stopped", "start").at(0)["environment"];
  EXPECT_THAT(environment, HasSubstr("OMP_WAIT_POLICY="));
  EXPECT_THAT(Params("stopped"),
              HasSubstr("\n# environment: " + environment + "\n"));
  EXPECT_THAT(ReadWholeFile(Model("stopped/report.html"), 1 << 24),
              HasSubstr("<td>stopped at step "));
  EXPECT_THAT(Train("stopped", saving),
              Ends(0, HasSubstr("resuming from the checkpoint at step")));
  ExpectSameSteps("straight", "stopped");
}

TEST_F(TrainResnetTest, NamesShardsThatAreReplacedWhileItTrains) {
  RunningProgram run("train_resnet",
                     Arguments("replaced", "train_steps=30000,steps_per_eval=3",
                               "--mode train_and_eval --device cpu"));
  ASSERT_TRUE(run.ReadUntil("evaluation at step 3")) << run.err();
  EXPECT_THAT(run.err(), Not(HasSubstr("changed since the run began")));
  WriteShard(data_, "validation", PayloadsOfFourClasses(12));
  ASSERT_TRUE(
      run.ReadUntil("validation: 1 shard of 1 changed since the run "
                    "began, such as " +
                    data_ / ShardName("validation", 0, 1)))
      << run.err();
  run.Signal(SIGTERM);
  EXPECT_EQ(run.Wait(), 75) << run.err();
}

TEST_F(TrainResnetTest, TrainsOnImagesThatAreNotSquare) {
  const std::string more =
      kResNet + std::string() +
      "image_size=32x48,image_size_schedule=[0:24x40,1:32x48],cutmix_alpha=1,"
      "random_erasing=0.5,recipe=torchvision,"
      "learning_rate_schedule=constant,train_steps=";
  const std::string flags = "--mode train_and_eval --device cpu";
  ASSERT_THAT(Train("straight", more + "5", flags),
              Ends(0, HasSubstr("evaluation at step 5")));
  for (const std::string steps : {"1", "3", "5"}) {
    ASSERT_THAT(Train("parts", more + steps, flags), Ends(0));
  }
  EXPECT_THAT(TrainLosses(Model("straight")), SizeIs(5));
  EXPECT_EQ(TrainLosses(Model("parts")), TrainLosses(Model("straight")));
  EXPECT_THAT(Params("straight"), HasSubstr("image_size: 32x48"));
  EXPECT_THAT(Train("parts", kResNet + std::string("image_size=48x32,"
                                                   "image_size_schedule=2:40")),
              Ends(2, AllOf(HasSubstr("image_size is \"48x32\", the "
                                      "checkpoint has \"32x48\""),
                            HasSubstr("image_size_schedule is \"2:40\""))));
}

TEST_F(TrainResnetTest, GoesOnWithAllThatAnUpdateDependsOn) {
  const std::string more =
      kResNet + std::string() +
      "optimizer=nadamw,base_learning_rate=0.01,moving_average_decay=0.9,"
      "moving_average_every=2,mixup_alpha=0.2,cutmix_alpha=1,loss=bce,"
      "bce_target_threshold=0.2,clip_gradient_norm=1,layer_decay=0.9,"
      "norm_weight_decay=0.001,gradient_accumulation_steps=2,"
      "learning_rate_schedule=exponential,"
      "steps_per_eval=2,train_steps=";
  const std::string mode = "--mode train_and_eval --device cpu";
  ASSERT_EQ(Train("straight", more + "4", mode).exit_code, 0);
  for (const std::string steps : {"2", "4"}) {
    ASSERT_THAT(Train("parts", more + steps, mode), Ends(0));
  }
  for (const std::string event : {"train", "eval"}) {
    EXPECT_EQ(Metrics("parts", event).at(4)["loss"],
              Metrics("straight", event).at(4)["loss"]);
  }
}

// Its own checkpoint is there by then.
TEST_F(TrainResnetTest, GoesOnFromWeightsThatItsCommandNoLongerGives) {
  ASSERT_THAT(Train("weights", "train_steps=1"), Ends(0));
  const std::string more =
      "body_learning_rate_factor=0.1,learning_rate_schedule=constant,"
      "steps_per_checkpoint=1,iterations_per_loop=1,train_steps=";
  const std::string given =
      kTraining + std::string(" --resnet_checkpoint ") + Model("weights");
  for (const std::string steps : {"1", "3"}) {
    ASSERT_THAT(Train("given", more + steps, given), Ends(0));
  }
  ASSERT_THAT(Train("left", more + "1", given), Ends(0));
  const std::string kept =
      "resnet_checkpoint: " + Model("weights") + "  # the resumed run\n";
  const std::string fork =
      " --resume " + Model("left") + "/checkpoint-00000001";
  EXPECT_THAT(Train("fork", more + "3", kTraining + fork),
              Ends(0, HasSubstr(kept)));
  fs::remove_all(Model("weights"));
  for (const std::string steps : {"2", "3"}) {
    EXPECT_THAT(Train("left", more + steps), Ends(0, HasSubstr(kept)));
  }
  const auto weights = [&](const std::string& model) {
    return ReadWholeFile(
        Model(model) + "/checkpoint-00000003/model.safetensors", 1 << 24);
  };
  EXPECT_TRUE(weights("left") == weights("given"));
  EXPECT_TRUE(weights("fork") == weights("given"));
}

TEST_F(TrainResnetTest, HasOnlyTheEvaluationToDoAfterItsLastStep) {
  const std::string mode = "--mode train_and_eval --device cpu";
  ASSERT_EQ(Train("model", "train_steps=4").exit_code, 0);
  const ProgramResult again = Succeeded(Train("model", "train_steps=3"));
  EXPECT_THAT(again.err, HasSubstr("nothing to do: step 4 of 3;"));
  EXPECT_EQ(again.out, "step 4\n");
  EXPECT_THAT(Train("model", "train_steps=4", mode),
              Ends(0, HasSubstr("evaluation at step 4:")));
  EXPECT_THAT(Train("model", "train_steps=4", mode).err,
              HasSubstr("nothing to do: step 4 of 4;"));
}

// The stem alone asks for 4 GiB at once.
TEST_F(TrainResnetTest, SaysInOneLineThatMemoryRanOut) {
  const ProgramResult run = RunProgram(
      "train_resnet",
      "--mode train --device cpu --data_dir null --model_dir " +
          Model("model") +
          " --params_override resnet_depth=18,small_stem=true,image_size=32,"
          "train_batch_size=8192,num_label_classes=4,precision=float32,"
          "num_parallel_calls=1",
      "ulimit -v 4000000;");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(
      run.err,
      AllOf(HasSubstr("train_resnet: out of memory: 2048 MiB more was refused; "
                      "needed are about "),
            HasSubstr("8192 images of 32 x 32 pixels in float32"),
            HasSubstr("lower train_batch_size, image_size or memory_limit")));
  EXPECT_THAT(run.err, Not(HasSubstr("frame #")));
}

// Only from the files of its folder.
TEST_F(TrainResnetTest, CanBeDoneAgainFromItsFolder) {
  ASSERT_THAT(
      Train("first", "train_steps=2", "--mode=train --device cpu --seed '7'"),
      Ends(0));
  const nlohmann::json start = Metrics("first", "start").at(0);
  std::string command = start["command"];
  const std::string report = ReadWholeFile(Model("first/report.html"), 1 << 24);
  const std::string params = ReadWholeFile(Model("first/params.yaml"), 1 << 16);
  for (const char* const name :
       {"command", "version", "commit", "host", "processor", "device",
        "libtorch", "data_dir", "data_identity"}) {
    const std::string value = start.value(name, "none");
    EXPECT_NE(value, "none") << name;
    EXPECT_THAT(params,
                HasSubstr("\n# " + std::string(name) + ": " + value + "\n"));
    EXPECT_THAT(report, HasSubstr("<td>" + std::string(name) + "</td>"));
  }

  command.replace(command.find(Model("first")), Model("first").size(),
                  Model("again"));
  const std::string arguments = command.substr(command.find(" --"));
  EXPECT_EQ(RunTrainResnet(arguments).exit_code, 0) << command;
  EXPECT_EQ(Metrics("again", "train").at(2)["loss"],
            Metrics("first", "train").at(2)["loss"]);

  EXPECT_THAT(
      RunTrainResnet("--data_dir " + data_.path() + " --model_dir " +
                     Model("by_file") + " --config_file " +
                     Model("first/params.yaml") + " --mode train --device cpu"),
      Ends(0));
  EXPECT_EQ(Metrics("by_file", "train").at(2)["loss"],
            Metrics("first", "train").at(2)["loss"]);
}

TEST_F(TrainResnetTest, TellsWhatItsInputDid) {
  const std::string trace = Model("") + "trace.json";
  const std::string metrics = Model("") + "infeed.prom";
  const ProgramResult result =
      Succeeded(Train("watched", "train_steps=3",
                      "--mode train --device cpu --metrics_file " + metrics +
                          " --trace " + trace));
  EXPECT_THAT(result.err, HasSubstr("queues: waiting "));
  EXPECT_THAT(
      ReadWholeFile(metrics, 1 << 20),
      HasSubstr("infeed_batches_total{run=\"" + Model("watched") + "\"} "));
  EXPECT_THAT(result.err,
              HasSubstr("report: " + Model("watched") +
                        "/report.html\nnext:   train_resnet --model_dir " +
                        Model("watched") + " --mode predict --input PHOTOS"));
  EXPECT_THAT(ReadWholeFile(trace, 1 << 30),
              AllOf(HasSubstr("\"decode\""), HasSubstr("infeed driver")));
  std::string events;
  for (const fs::path& file : fs::directory_iterator(Model("watched"))) {
    if (file.filename().string().starts_with("events")) {
      events += ReadWholeFile(file, 1 << 20);
    }
  }
  EXPECT_THAT(events, AllOf(HasSubstr("input/images_per_second"),
                            HasSubstr("input/busy/decode"),
                            HasSubstr("input/queue/ready")));
}

TEST_F(TrainResnetTest, EndsWhereThereIsNoGoodRecordToEvaluate) {
  WriteShard(data_, "validation", {"no Example"});
  EXPECT_THAT(Train("none", "train_steps=1", "--mode train_and_eval"),
              Ends(3, HasSubstr("the epoch has no good record")));
}

TEST_F(TrainResnetTest, EvaluatesTestShardsWithoutValidationElseOnlyTrains) {
  const std::string test = data_ / ShardName("test", 0, 1);
  fs::rename(data_ / ShardName("validation", 0, 1), test);
  const std::string mode = "--mode train_and_eval";
  EXPECT_THAT(Train("model", "train_steps=1", mode),
              Ends(0, HasSubstr("test 10 images in 1 shard")));
  EXPECT_EQ(Metrics("model", "eval").at(1)["images"], 10);
  fs::remove(test);
  EXPECT_THAT(Train("alone", "train_steps=2", mode),
              Ends(0, HasSubstr("this run only trains")));
}

TEST_F(TrainResnetTest, GoesOnWithoutMissingShardsOnlyWhenTold) {
  ASSERT_EQ(Train("model", "train_steps=1").exit_code, 0);
  fs::rename(data_ / ShardName("train", 0, 1),
             data_ / ShardName("train", 1, 2));
  fs::rename(data_ / ShardName("validation", 0, 1),
             data_ / ShardName("validation", 0, 2));
  const std::string missing = data_ / ShardName("train", 0, 2);
  for (const std::string mode : {"--mode train", "--dry_run"}) {
    EXPECT_THAT(Train("other", "train_steps=1", mode),
                Ends(3, HasSubstr("1 shard is missing: " + missing)))
        << mode;
  }
  // Data that are not read may be incomplete.
  EXPECT_THAT(
      Train("model", "", "--mode eval"),
      Ends(3, HasSubstr("is missing: " +
                        (data_ / ShardName("validation", 1, 2)) + ";")));

  EXPECT_THAT(
      Train("other", "train_steps=1", "--mode train --allow_missing_shards"),
      Ends(0, AllOf(HasSubstr("1 shard is missing: " + missing),
                    HasSubstr("the number of missing images"),
                    HasSubstr("train 16 images in 1 shard"))));
}

// A run of three steps is too short for a trial.
TEST_F(TrainResnetTest, SettlesWhatAutoPrecisionIsAndKeepsIt) {
  ASSERT_THAT(Train("model", "train_steps=3,precision=auto"),
              Ends(0, HasSubstr("precision: float32, ")));
  EXPECT_THAT(Params("model"), HasSubstr("\nprecision: float32"));
  WriteFileAtomically(Model("model") + "/params.yaml", "precision: bfloat16\n");
  ASSERT_THAT(Train("model", "train_steps=4,precision=auto"),
              Ends(0, HasSubstr("precision: bfloat16, as in the params.yaml "
                                "of the resumed run")));
  EXPECT_THAT(Params("model"), HasSubstr("\nprecision: bfloat16"));
}

// Where the CPU has units for bfloat16.
TEST_F(TrainResnetTest, TimesBothPrecisionsOfALongRunAlone) {
  EXPECT_THAT(Train("model", "train_steps=100000,precision=auto", "--dry_run"),
              Ends(0, Not(HasSubstr(" images/s in "))));
  RunningProgram run("train_resnet",
                     Arguments("model", "train_steps=100000,precision=auto"));
  ASSERT_TRUE(run.ReadUntil("precision: ")) << run.err();
  ASSERT_TRUE(run.ReadUntil("current step 0")) << run.err();
  EXPECT_THAT(
      run.err(),
      ContainsRegex(
          "precision: (float32, this CPU has no units|float32, bfloat16 "
          "fails on this CPU|"
          "(float32|bfloat16), [0-9.e+]+ against [0-9.e+]+ "
          "images/s in (float32|bfloat16)\n)"));
}

// oneDNN fails on a CPU whose units for bfloat16 it must not use. It reads the
// variable once a process.
TEST_F(TrainResnetTest, ReportsBfloat16ThatFailsBeforeTraining) {
  const EnvironmentVariable limit("DNNL_MAX_CPU_ISA", "AVX2");
  RunningProgram open("train_resnet",
                      Arguments("open", "train_steps=100,precision=auto"));
  EXPECT_EQ(open.Wait(), 0) << open.err();
  RunningProgram given("train_resnet",
                       Arguments("given", "train_steps=1,precision=bfloat16"));
  if (given.Wait() == 0) {
    return;  // It needs no units.
  }
  EXPECT_THAT(given.err(), AllOf(HasSubstr("precision=bfloat16: LibTorch"),
                                 HasSubstr("or give precision=float32"),
                                 Not(HasSubstr("current step 0"))));
}

TEST_F(TrainResnetTest, NamesWhatChangesTheOptimizersState) {
  const auto train = [&](const std::string& more, const std::string& flags) {
    return Train("model", kResNet + more, kTraining + flags);
  };
  ASSERT_THAT(train("train_steps=1,frozen_stages=5", ""), Ends(0));
  EXPECT_THAT(train("train_steps=2,frozen_stages=4", ""),
              Ends(2, AllOf(HasSubstr("frozen_stages=4: the checkpoint of step "
                                      "1 was trained with 5: give that"),
                            HasSubstr("in another model_dir"))));
  EXPECT_THAT(train("train_steps=2,frozen_stages=5,optimizer=adamw,"
                    "base_learning_rate=0.01",
                    " --force"),
              Ends(2, AllOf(HasSubstr("cannot be used, even with --force: "
                                      "optimizer is \"adamw\""),
                            HasSubstr(" is missing"))));
  EXPECT_THAT(train("train_steps=2,frozen_stages=5", ""), Ends(0));
}

TEST_F(TrainResnetTest, TrainsAlikeOnImagesThatTheDeviceHas) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 20; ++i) {
    payloads.push_back(PackedPayload(i, 28));
  }
  WriteShard(data_, "train", payloads);
  const std::string more = "learning_rate_schedule=constant,train_steps=";
  ASSERT_EQ(Train("read", more + "7").exit_code, 0);
  for (const std::string steps : {"3", "7"}) {
    ASSERT_THAT(Train("held", "data_on_device=true," + more + steps),
                Ends(0, HasSubstr("data_on_device: 20 images, ")));
  }
  EXPECT_THAT(TrainLosses(Model("read")), SizeIs(7));
  EXPECT_EQ(TrainLosses(Model("held")), TrainLosses(Model("read")));
}

TEST_F(TrainResnetTest, EndsOnALossThatIsNotFinite) {
  EXPECT_THAT(Train("model", "base_learning_rate=1e30"),
              Ends(5, AllOf(HasSubstr("not finite after step "),
                            HasSubstr("gradients fc3.bias (4 of 4 values)"),
                            HasSubstr("the loss of step "))));
  EXPECT_THAT(Metrics("model", "checkpoint"), IsEmpty());
}

// The update of a step with a finite loss: every later run would begin there.
TEST_F(TrainResnetTest, SavesNoWeightsThatAreNotFinite) {
  const std::string each = "iterations_per_loop=1,steps_per_checkpoint=1,";
  ASSERT_EQ(Train("model", each + "train_steps=2").exit_code, 0);
  EXPECT_THAT(
      Train("model", each + "learning_rate_schedule=constant,"
                            "base_learning_rate=1e42"),
      Ends(5, AllOf(HasSubstr("not finite after step 3: weights conv1.weight"),
                    HasSubstr("the weights after step 3 are not finite; the "
                              "last good checkpoint is of step 2"))));
  EXPECT_THAT(Metrics("model", "checkpoint"), SizeIs(2));
}

// A signal that comes as soon as the program holds it back, before main.
class EarlySignalTest : public TrainResnetTest {
 protected:
  // Waits until it holds the signal back; false: it has ended.
  static bool HoldsBack(const RunningProgram& program, int signal) {
    const std::string path =
        "/proc/" + std::to_string(program.process()) + "/status";
    for (;;) {
      std::ifstream status(path);
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("State:\tZ")) {
          return false;
        }
        // Blocked, before a handler can keep it, or kept by that.
        const bool is_mask =
            line.starts_with("SigBlk:") || line.starts_with("SigCgt:");
        if (is_mask &&
            (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1U)) {
          return true;
        }
      }
      std::this_thread::yield();
    }
  }

  void ExpectAStop(int signal, const std::string& ranks) const {
    RunningProgram program(
        "train_resnet",
        Arguments("model", "train_steps=1000000",
                  "--mode train --device cpu --local_ranks " + ranks));
    ASSERT_TRUE(HoldsBack(program, signal));
    program.Signal(signal);
    EXPECT_EQ(program.Wait(), 75) << program.err();
    EXPECT_THAT(program.err(), HasSubstr("stopped at step "));
  }
};

TEST_F(EarlySignalTest, EndsARunAsALaterOneDoes) { ExpectAStop(SIGINT, "1"); }

// Before its first new checkpoint the later ones are still there.
TEST_F(EarlySignalTest, ARunThatGoesBackSaysHowItGoesOn) {
  ASSERT_EQ(Train("model", "steps_per_checkpoint=3,train_steps=6").exit_code,
            0);
  RunningProgram program(
      "train_resnet",
      Arguments("model", "train_steps=1000000",
                kTraining + std::string(" --resume 3 --force")));
  ASSERT_TRUE(HoldsBack(program, SIGTERM));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 75) << program.err();
  const bool is_old =
      program.err().find("stopped at step 3 ") != std::string::npos;
  EXPECT_THAT(program.err(),
              HasSubstr(is_old ? "the same command resumes from there"
                               : "the same command without --resume resumes"));
}

TEST_F(EarlySignalTest, EndsTheRanksOfALauncher) {
  if (!kHasGloo) {
    GTEST_SKIP() << kNoGloo;
  }
  ExpectAStop(SIGUSR1, "2");
}

TEST_F(EarlySignalTest, EndsTheWaitForAPipe) {
  const std::string pipe = models_ / "params.yaml";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::fstream silent_writer(pipe);
  RunningProgram program(
      "train_resnet",
      Arguments("model", "",
                "--mode train --device cpu --config_file " + pipe));
  ASSERT_TRUE(HoldsBack(program, SIGTERM));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 128 + SIGTERM) << program.err();
}

}  // namespace
}  // namespace infeed
