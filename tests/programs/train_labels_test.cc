// Shards whose labels are numbered by others, through the whole program.

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/files/shards.h"
#include "tests/support/matchers.h"
#include "tests/support/running_program.h"
#include "tests/support/shard_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"
#include "tests/support/train_resnet.h"

namespace infeed {
namespace {

using nlohmann::json;

class TrainLabelsTest : public testing::Test {
 protected:
  // One shard of records with these labels.
  void Write(const std::string& split,
             const std::vector<std::int64_t>& labels) const {
    std::vector<std::string> payloads;
    for (const std::int64_t label : labels) {
      payloads.push_back(PayloadWithImage(
          TestJpeg({.width = 28, .height = 28, .seed = payloads.size() + 1}),
          label - 1));
    }
    WriteShard(data_, split, payloads);
  }

  void Name(const std::string& lines) const {
    WriteFileAtomically(data_ / "labels.txt", lines);
  }

  [[nodiscard]] ProgramResult RunOn(const std::string& data,
                                    const std::string& flags) const {
    return RunTrainResnet("--device cpu --data_dir '" + data +
                          "' --model_dir " + model_.path() + " " + flags);
  }
  [[nodiscard]] ProgramResult Run(const std::string& flags,
                                  const std::string& more = "") const {
    return RunOn(data_.path(), flags + more);
  }
  [[nodiscard]] ProgramResult Train(const std::string& more = "") const {
    return Run(training_, more);
  }

  void TrainOnFourImages() const {
    Write("train", {1, 2, 1, 2});
    Write("validation", {1, 2});
    ASSERT_EQ(Train().exit_code, 0);
  }

  [[nodiscard]] std::string Text(const std::string& name) const {
    return ReadWholeFile(model_ / name, 1 << 24);
  }
  [[nodiscard]] json Evaluation() const {
    return json::parse(Text("eval/00000004.json"));
  }
  // An evaluation's classes: "name images ..." of each.
  static std::string Classes(const json& evaluation) {
    std::string text;
    for (const json& one : evaluation.at("classes")) {
      text += one.at("label").get<std::string>() + " " +
              one.at("images").dump() + " ";
    }
    return text;
  }

  const std::string parameters_ =
      "model=lenet,image_size=28,recipe=plain,normalization=unit,"
      "train_batch_size=4,train_steps=4";
  const std::string training_ = "--params_override " + parameters_;
  TemporaryFolder data_;
  TemporaryFolder model_;
};

// An index file is made for the data, but not by a dry run; nor is a link that
// a stranger left at its name followed.
TEST_F(TrainLabelsTest, ADryRunWritesNothing) {
  Write("train", {1, 2, 1, 2});
  const std::string flags = " --dry_run --bad_record_report " +
                            (model_ / "bad") + " --trace " + (model_ / "trace");
  EXPECT_EQ(Train(flags).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(data_ / ".infeed"));
  EXPECT_TRUE(std::filesystem::is_empty(model_.path()));
}

// The files of the newest evaluation are links to a file of the user.
TEST_F(TrainLabelsTest, FollowsNoLinksInAStrangersFolders) {
  namespace fs = std::filesystem;
  TrainOnFourImages();
  const TemporaryFolder mine;
  WriteFileAtomically(mine / "thesis", "thesis");
  std::vector<std::string> links = {data_ /
                                    ".infeed/train-00000-of-00001.index"};
  for (const auto& entry : fs::directory_iterator(model_ / "eval")) {
    if (entry.path().extension() == ".json") {
      links.push_back(entry.path().string());
    }
  }
  ASSERT_GE(links.size(), 2);
  for (const std::string& path : links) {
    fs::remove(path);
    fs::create_symlink(mine / "thesis", path);
  }
  EXPECT_THAT(Run("--mode eval"), Ends(0));
  EXPECT_FALSE(fs::is_symlink(model_ / "eval/00000004.json"));
  fs::rename(model_ / "metrics.jsonl", mine / "metrics");
  fs::create_symlink(mine / "thesis", model_ / "metrics.jsonl");
  EXPECT_THAT(Run("--mode eval"),
              Ends(1, HasSubstr("metrics.jsonl: is a symbolic link")));
  fs::rename(mine / "metrics", model_ / "metrics.jsonl");
  fs::remove_all(model_ / "eval");
  fs::create_directory_symlink(mine.path(), model_ / "eval");
  EXPECT_THAT(Run("--mode eval").err, HasSubstr("eval: is a symbolic link"));
  EXPECT_EQ(ReadWholeFile(mine / "thesis", 100), "thesis");
  EXPECT_EQ(std::distance(fs::directory_iterator(mine.path()), {}), 1);
}

TEST_F(TrainLabelsTest, ANameEndsNoLine) {
  const ProgramResult run = RunTrainResnet(
      "--device cpu --dry_run --data_dir '" + (data_ / "a\nproblem: b") +
      "' --model_dir '" + (model_ / "c\nd") + "'");
  EXPECT_THAT(run.err, HasSubstr("/a\\x0aproblem: b: cannot find the data"));
  EXPECT_THAT(run.err, Not(HasSubstr("\nproblem: b")));
  EXPECT_THAT(run.err, Not(HasSubstr("\nd")));
}

TEST_F(TrainLabelsTest, WritesOverNoFileOfAModel) {
  TrainOnFourImages();
  for (const char* name : {"checkpoint-00000004/MANIFEST", "eval/00000004.json",
                           "evaluations.json", "report.html"}) {
    const std::string before = Text(name);
    EXPECT_THAT(Run("--mode eval --trace " + (model_ / name)),
                Ends(2, HasSubstr("give another file")))
        << name;
    EXPECT_EQ(Text(name), before) << name;
  }
}

// Its parameters could name any file of the user.
TEST_F(TrainLabelsTest, NamesNoReportInAStrangersModel) {
  TrainOnFourImages();
  const TemporaryFolder mine;
  WriteFileAtomically(
      model_ / "params.yaml",
      Text("params.yaml") + "bad_record_report: " + (mine / "report") + "\n");
  EXPECT_THAT(Run("--mode eval"), Ends(0));
  EXPECT_FALSE(std::filesystem::exists(mine / "report"));
}

TEST_F(TrainLabelsTest, LabelsFromZeroAreAllClasses) {
  Write("train", {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  Write("validation", {1, 2, 3, 3, 1, 2});  // Training decides: no 0 here.
  Name("ant\nbee\ncow\ndog\n");
  ASSERT_THAT(
      Train(),
      Ends(0, AllOf(HasSubstr("labels: 0..3, 4 classes (label_offset 0)\n"),
                    Not(HasSubstr("bad record")))));
  EXPECT_THAT(Text("params.yaml"),
              AllOf(HasSubstr("num_label_classes: 4  # the data"),
                    HasSubstr("label_offset: 0  # the data")));
  EXPECT_EQ(Evaluation().at("images"), 6);
  EXPECT_EQ(Evaluation().at("bad_records"), 0);
  EXPECT_EQ(Classes(Evaluation()), "ant 0 bee 2 cow 2 dog 2 ");

  // The other modes take it from the model folder.
  ASSERT_EQ(Run("--mode eval").exit_code, 0);
  EXPECT_EQ(Classes(Evaluation()), "ant 0 bee 2 cow 2 dog 2 ");
  const ProgramResult predicted = Run("--mode predict");
  EXPECT_THAT(predicted.out, HasSubstr(R"("true_label":"dog","true_index":3)"));
  ASSERT_THAT(Run("--mode export --export_dir " + (model_ / "export")),
              Ends(0));
  const std::string folder =
      std::filesystem::directory_iterator(model_ / "export")->path().string();
  const json facts =
      json::parse(ReadWholeFile(folder + "/preprocessing.json", 1 << 24));
  EXPECT_EQ(facts.at("classes"), json({"ant", "bee", "cow", "dog"}));
  EXPECT_EQ(facts.at("label_offset"), 0);
}

// A training whose labels count from 0 is used on others.
TEST_F(TrainLabelsTest, OtherRecordsTellTheirFirstLabel) {
  Write("train", {0, 1, 2, 3, 0, 1, 2, 3});
  ASSERT_THAT(Train(), Ends(0));
  std::filesystem::remove(data_ / ShardName("train", 0, 1));
  const auto from_one = HasSubstr("labels: those of this data count from 1");
  for (const std::string names : {"", "ant\nbee\ncow\ndog\n"}) {
    if (!names.empty()) {
      Name(names);
    }
    Write("validation", {1, 2, 3, 4, 1});
    EXPECT_THAT(Run("--mode eval"),
                Ends(0, AllOf(from_one, Not(HasSubstr("bad record")))));
    Write("validation", {1, 2, 3, 1, 3, 2});  // Both are possible.
    EXPECT_THAT(Run("--mode eval"), Ends(0, Not(from_one)));
  }
}

// The user has said that 0 is no class.
TEST_F(TrainLabelsTest, TheTrainingsOwnImagesKeepItsFirstLabel) {
  Write("train", {0, 1, 2, 3, 4, 1, 2, 3});
  Write("validation", {0, 1, 2, 3});
  ASSERT_THAT(Train(" --label_offset 1 --num_label_classes 4"), Ends(0));
  EXPECT_EQ(Evaluation().at("bad_records"), 1);
  EXPECT_THAT(Run("--mode eval"), Ends(0, Not(HasSubstr("count from"))));
  EXPECT_EQ(Evaluation().at("bad_records"), 1);
}

TEST_F(TrainLabelsTest, AStoppedRunMentionsItsBadRecords) {
  Write("train", {0, 1, -1, 1, 0, 1, 0, 1});
  Name("ant\nbee\n");
  RunningProgram program(
      "train_resnet",
      {"--device", "cpu", "--mode", "train", "--data_dir", data_.path(),
       "--model_dir", model_.path(), "--params_override",
       parameters_ + ",train_steps=1000000,iterations_per_loop=4"});
  ASSERT_TRUE(program.ReadUntil("the first bad record of this run: "))
      << program.err();
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 75) << program.err();
  EXPECT_THAT(program.err(), HasSubstr("bad records; the first: "));
}

TEST_F(TrainLabelsTest, NamesTheDamagedCheckpointThatWasChosen) {
  Write("train", {1, 2, 1, 2});
  Write("validation", {1, 2});
  ASSERT_EQ(Train().exit_code, 0);
  std::filesystem::resize_file(model_ / "checkpoint-00000004/model.safetensors",
                               9);
  const std::string named =
      model_.path() + ": the checkpoint of step 4 is damaged; the others may";
  EXPECT_THAT(Run("--mode eval --checkpoint 4"), Ends(4, HasSubstr(named)));
  EXPECT_THAT(Run(training_, " --resume 4"), Ends(4, HasSubstr(named)));
  EXPECT_THAT(Run("--mode eval"), Ends(0, HasSubstr("at step 3")));
  for (const auto& file : std::filesystem::directory_iterator(model_.path())) {
    if (file.path().filename().string().starts_with("checkpoint-")) {
      std::filesystem::resize_file(file.path() / "model.safetensors", 9);
    }
  }
  EXPECT_THAT(Run("--mode eval"),
              Ends(4, HasSubstr("all checkpoints in it are damaged")));
}

TEST_F(TrainLabelsTest, LabelsWithoutAClassAreBadRecords) {
  // Missing, negative, one beyond.
  Write("train", {0, 1, 2, 3, -1, 1, 2, -5, 0, 4, 2, 3, 0, 1, 2, 3});
  Write("validation", {0, 1, 2, 3, -1, 4});
  Name("ant\nbee\ncow\ndog\n");
  const std::string report = data_ / "bad.jsonl";
  const std::string counted =
      "3 of 16 records are bad, by their labels: 1 missing, 1 below 0, 1 above "
      "3";
  EXPECT_THAT(
      Train(" --dry_run"),
      Ends(0, AllOf(HasSubstr("labels: train: " + counted + "\n"),
                    HasSubstr("labels: validation: 2 of 6 records are bad"))));
  EXPECT_THAT(Train(" --dry_run --on_bad_record fail"),
              Ends(3, HasSubstr("problem: train: " + counted)));

  ASSERT_THAT(Train(" --bad_record_report " + report),
              Ends(0, AllOf(HasSubstr("(label_offset 0); " + counted),
                            HasSubstr("bad records; the first: "))));
  EXPECT_THAT(
      ReadWholeFile(report, 1 << 24),
      AllOf(HasSubstr("\"kind\":\"label\""), HasSubstr("there is no label"),
            HasSubstr("image/class/label -5 is below 0"),
            HasSubstr("class 4 is beyond the last of 4 classes, 3 (image/class/"
                      "label 4, counted from 0)")));
  EXPECT_EQ(Evaluation().at("images"), 4);
  EXPECT_EQ(Evaluation().at("bad_records"), 2);
}

// A user names the files, not their folder.
TEST_F(TrainLabelsTest, PatternsHaveTheNamesBesideTheirFiles) {
  Write("train", {0, 1, 2, 0, 1, 2, 0, 1});
  Write("validation", {0, 1, 2});
  Name("ant\nbee\ncow\ndog\n");  // No record is a dog.
  ASSERT_THAT(
      RunOn((data_ / "train-*") + "," + (data_ / "validation-*"), training_),
      Ends(0, HasSubstr("labels: 0..3, 4 classes (label_offset 0)")));
  EXPECT_EQ(Text("labels.txt"), "ant\nbee\ncow\ndog\n");
  EXPECT_EQ(Classes(Evaluation()), "ant 1 bee 1 cow 1 dog 0 ");
  Name("ant\nbee\nfox\ndog\n");
  EXPECT_THAT(RunOn(data_ / "validation-*", "--mode eval"),
              Ends(2, HasSubstr("other classes than the model")));
}

// Labels of both would be one class where their numbers are equal.
TEST_F(TrainLabelsTest, RefuseDataSetsThatNumberClassesDifferently) {
  Write("train", {0, 1, 0, 1});
  Write("validation", {0, 1});
  Name("ant\nbee\n");
  const TemporaryFolder other;
  std::filesystem::copy(data_.path(), other.path());
  WriteFileAtomically(other / "labels.txt", "ant\ncow\n");
  const auto refused = Ends(2, AllOf(HasSubstr("number their classes"),
                                     HasSubstr("\"bee\" in " + data_.path()),
                                     HasSubstr("\"cow\" in " + other.path())));
  const std::string both = data_.path() + "," + other.path();
  EXPECT_THAT(RunOn(both, training_), refused);
  EXPECT_THAT(
      RunOn((data_ / "train-*") + "," + (other / "validation-*"), training_),
      refused);
  EXPECT_THAT(Train(" --mix " + data_.path() + "=1," + other.path() + "=1"),
              refused);
  EXPECT_THAT(RunProgram("pipeline_throughput", "--data_dir " + both), refused);
  ASSERT_THAT(Train(), Ends(0));
  for (const std::string mode : {"eval", "predict"}) {
    EXPECT_THAT(RunOn(both, "--mode " + mode), refused) << mode;
  }
  // The images to evaluate are those of data_dir.
  const ProgramResult mixed =
      RunOn(data_.path(), training_ + (" --mix " + other.path() + "=1"));
  EXPECT_THAT(mixed, Ends(2, AllOf(HasSubstr("\"cow\" in " + other.path()),
                                   HasSubstr("\"bee\" in " + data_.path()))));
}

TEST_F(TrainLabelsTest, RefuseToGoOnWithAnotherOffset) {
  Write("train", {0, 1, 2, 3, 0, 1, 2, 3});
  ASSERT_EQ(Train().exit_code, 0);
  EXPECT_THAT(Train(",train_steps=8 --label_offset 1 --num_label_classes 4"),
              Ends(2, HasSubstr("label_offset is 1, the checkpoint has 0")));
}

}  // namespace
}  // namespace infeed
