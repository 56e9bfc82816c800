// Evaluations and predictions that are not the training's own: of other splits,
// data, settings and classes.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "records/files/shards.h"
#include "tests/support/gloo.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/metrics_lines.h"
#include "tests/support/small_model.h"
#include "trainer/log/run_history.h"
#include "trainer/results/model_dir.h"

namespace infeed::other_data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A folder of shards with the images of SmallModel, image i of class i modulo
// 4, whose classes have other numbers.
class OtherData {
 public:
  // labels: the number of each of SmallModel's classes; names: of the classes.
  OtherData(const std::vector<int>& labels, const std::string& names,
            const std::string& split = "validation", int images = 10) {
    std::vector<std::string> payloads;
    for (int i = 0; i < images; ++i) {
      payloads.push_back(
          TestPayload(i % 4, labels[static_cast<std::size_t>(i % 4)]));
    }
    WriteShard(folder_, split, payloads);
    if (!names.empty()) {
      std::ofstream(folder_ / "labels.txt") << names;
    }
  }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

class OtherDataTest : public testing::Test {
 protected:
  [[nodiscard]] ProgramResult Eval(const std::string& flags) const {
    return model_.Run("--mode eval " + flags);
  }
  [[nodiscard]] ProgramResult EvalOn(const std::string& data,
                                     const std::string& flags = "") const {
    return Eval("--data_dir " + data + " " + flags);
  }
  // The names of evaluations' files that are not the training's own.
  [[nodiscard]] std::vector<std::string> Others() const {
    std::vector<std::string> names = NamesInFolder(EvalFolder(model_.folder()));
    std::erase_if(names, [](const std::string& name) {
      return !name.ends_with(".json") || name == "00000001.json" ||
             name == "00000002.json";
    });
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] json File(const std::string& name) const {
    return json::parse(
        ReadWholeFile(PathIn(EvalFolder(model_.folder()), name), 1 << 20));
  }
  [[nodiscard]] std::string Own() const {
    return ReadWholeFile(EvalPath(model_.folder(), 2), 1 << 20);
  }

  SmallModel model_;
};

TEST_F(OtherDataTest, HasFilesAndCurvesOfItsOwn) {
  const std::string own = Own();
  EXPECT_EQ(json::parse(own)["split"], "validation");
  const OtherData same_shape({1, 0, 3, 2}, "ant\nbee\ncat\ndog\n");
  std::size_t evaluations = 0;
  for (const std::string& flags :
       {"--data_dir " + model_.data_dir() + " --eval_split train",
        "--data_dir " + same_shape.path(),
        "--data_dir " + model_.data_dir() + " --eval_crops 5",
        "--data_dir " + model_.data_dir() + " --eval_crops 2",
        "--data_dir " + model_.data_dir() + " --num_eval_images 5",
        "--data_dir " + model_.data_dir() + " --resume " +
            CheckpointFolder(model_.folder(), 2)}) {
    const ProgramResult run = Succeeded(Eval(flags));
    EXPECT_EQ(Own(), own) << flags;
    ASSERT_THAT(Others(), SizeIs(++evaluations)) << flags;
    EXPECT_THAT(run.err, HasSubstr("not an evaluation of the training itself"));
  }
  for (const std::string& name : Others()) {
    const json file = File(name);
    EXPECT_TRUE(file.contains("differences")) << name;
    EXPECT_EQ(name,
              "00000002-" + file["evaluation"].get<std::string>() + ".json");
  }
  EXPECT_THAT(MetricsLines(model_.folder(), "other_eval"), SizeIs(1));
  RunHistory history(model_.folder());
  history.Update();
  ASSERT_THAT(history.evaluations(), SizeIs(1));
  EXPECT_EQ(history.evaluations()[0].top_1,
            json::parse(own)["top_1"].get<double>());
  EXPECT_TRUE(history.runs().back().end);
}

TEST_F(OtherDataTest, ASampleHasImagesOfAllClassesOfSortedData) {
  const TemporaryFolder sorted;
  std::vector<std::string> payloads;
  for (int i = 0; i < 12; ++i) {
    payloads.push_back(TestPayload(i / 3));
  }
  WriteShard(sorted, "validation", payloads);
  std::ofstream(sorted / "labels.txt") << "ant\nbee\ncat\ndog\n";
  (void)Succeeded(EvalOn(sorted.path(), "--num_eval_images 4"));
  ASSERT_THAT(Others(), SizeIs(1));
  for (const json& label : File(Others()[0])["classes"]) {
    EXPECT_EQ(label["images"], 1) << label;
  }
}

TEST_F(OtherDataTest, EndsATrainingThatWouldMixIt) {
  const OtherData data({0, 1, 2, 3}, "", "test", 12);
  fs::copy(data.path() + "/" + ShardName("test", 0, 1),
           model_.data_dir() + "/" + ShardName("test", 0, 1));
  const std::string more = "--data_dir " + model_.data_dir() +
                           " --eval_split test --params_override " +
                           std::string(SmallModel::kParameters) +
                           ",train_steps=3";
  EXPECT_THAT(model_.Run(more),
              Ends(2, HasSubstr("eval_split is \"test\", the checkpoint has "
                                "\"validation\"")));
  EXPECT_THAT(model_.Run(more + " --force"), Ends(0));
  RunHistory history(model_.folder());
  history.Update();
  // The missing evaluation of step 2 is repeated.
  EXPECT_THAT(history.evaluations(), SizeIs(2));
}

TEST_F(OtherDataTest, OtherClassesAreRefused) {
  const OtherData two({0, 1, 0, 1}, "cat\nwolf\n");
  const OtherData four({0, 1, 2, 3}, "ant\nbee\ncat\nwolf\n");
  ImageFolder folder;
  folder.JpegsIn("validation/eel", 2).JpegsIn("validation/fox", 2);
  for (const std::string& data : {two.path(), four.path(), folder.path()}) {
    EXPECT_THAT(EvalOn(data),
                Ends(2, AllOf(HasSubstr("data_dir=" + data),
                              HasSubstr("the model 4 (ant, bee, cat, dog)"))));
    EXPECT_THAT(EvalOn(data, "--dry_run"),
                Ends(2, HasSubstr("other classes than the model")));
    EXPECT_THAT(
        model_.Run("--mode predict --eval_split validation --data_dir " + data),
        Ends(2));
    EXPECT_THAT(
        EvalOn(data, "--force"),
        Ends(0, AllOf(HasSubstr("--force: data_dir="),
                      HasSubstr("; classes are taken by their numbers\n"))));
  }
  EXPECT_THAT(EvalOn(four.path()).err,
              HasSubstr("the data has 4 (ant, bee, cat, wolf)"));
  const OtherData five({0, 1, 2, 3}, "ant\nbee\ncat\ndog\nelk\n");
  EXPECT_THAT(EvalOn(five.path()).err,
              HasSubstr("the data has 5 (ant, bee, cat, dog, elk), the model 4 "
                        "(ant, bee, cat, dog); give data of"));
  EXPECT_THAT(
      model_.Run("--mode predict --input '" + four.path() + "/validation-*'"),
      Ends(2));
}

TEST_F(OtherDataTest, ReorderedClassesAreMappedByName) {
  const json own = json::parse(Own());
  const OtherData reversed({3, 2, 1, 0}, "dog\ncat\nbee\nant\n");
  for (const std::string ranks : {"", " --local_ranks 2"}) {
    if (!ranks.empty() && !kHasGloo) {
      continue;
    }
    EXPECT_THAT(EvalOn(reversed.path(), ranks),
                Ends(0, HasSubstr("classes: by their names")));
    ASSERT_THAT(Others(), SizeIs(1));
    const json file = File(Others().front());
    EXPECT_EQ(file["confusion"], own["confusion"]);
    EXPECT_EQ(file["classes"], own["classes"]);
  }
  const auto truths = [&](const std::string& data) {
    const ProgramResult run = Succeeded(model_.Run(
        "--mode predict --eval_split validation --data_dir " + data));
    std::vector<std::string> names;
    for (const json& line : JsonLines(run.out)) {
      names.push_back(line["label"].get<std::string>() + " " +
                      line["true_label"].get<std::string>());
    }
    return names;
  };
  EXPECT_EQ(truths(reversed.path()), truths(model_.data_dir()));
}

// A folder's labels count from 1, and its classes are only some.
TEST_F(OtherDataTest, SubsetsOfClassesAreMappedByName) {
  ImageFolder folder;
  folder.JpegsIn("test/bee", 3).JpegsIn("test/dog", 2);
  EXPECT_THAT(EvalOn(folder.path(), "--eval_split test"), Ends(0));
  const json file = File(Others().front());
  EXPECT_EQ(file["classes"][1]["images"], 3);
  EXPECT_EQ(file["classes"][3]["images"], 2);
  EXPECT_EQ(file["bad_records"], 0);
}

// The model's labels count from 1, those of these records from 0.
TEST_F(OtherDataTest, LabelsCountFromTheirOwnFirst) {
  const json own = json::parse(Own());
  const OtherData same({-1, 0, 1, 2}, "ant\nbee\ncat\ndog\n");
  const OtherData reversed({2, 1, 0, -1}, "dog\ncat\nbee\nant\n");
  const OtherData unnamed({-1, 0, 1, 2}, "");
  for (const OtherData* data : {&same, &reversed, &unnamed}) {
    EXPECT_THAT(
        EvalOn(data->path()),
        Ends(0, HasSubstr("labels: those of this data count from 0, unlike")));
    ASSERT_THAT(Others(), SizeIs(1));
    const json file = File(Others().front());
    EXPECT_EQ(file["confusion"], own["confusion"]);
    EXPECT_EQ(file["bad_records"], 0);
    fs::remove(PathIn(EvalFolder(model_.folder()), Others().front()));
  }
  const ProgramResult predicted = Succeeded(model_.Run(
      "--mode predict --eval_split validation --data_dir " + same.path()));
  EXPECT_EQ(JsonLines(predicted.out).front()["true_label"], "ant");
  // As the user says: label 0 has no class.
  EXPECT_THAT(EvalOn(same.path(), "--label_offset 1"),
              Ends(0, Not(HasSubstr("count from"))));
  EXPECT_EQ(File(Others().front())["bad_records"], 3);
}

// Trains a model whose labels count from 0, of these names and parameters.
void TrainFrom0(const OtherData& data, const std::string& model,
                const std::string& more = "") {
  ASSERT_THAT(
      RunTrainResnet("--device cpu --mode train --data_dir " + data.path() +
                     " --model_dir " + model + " --params_override " +
                     SmallModel::kParameters + ",train_steps=1" + more),
      Ends(0));
}

// The data has all names but one, which is a class as the others are.
TEST_F(OtherDataTest, AClassThatIsMissingIsNoBackground) {
  const TemporaryFolder model;
  const OtherData all({-1, 0, 1, 2}, "ant\nbee\ncat\ndog\n", "train", 16);
  TrainFrom0(all, model.path(), ",label_offset=0");
  const std::string eval =
      "--device cpu --mode eval --model_dir " + model.path() + " --data_dir ";
  const auto images = [&] {
    std::vector<int> counts;
    const std::string folder = EvalFolder(model.path());
    for (const std::string& name : NamesInFolder(folder)) {
      if (name.ends_with(".json")) {
        const json file =
            json::parse(ReadWholeFile(PathIn(folder, name), 1 << 20));
        EXPECT_EQ(file["bad_records"], 0);
        for (const json& label : file["classes"]) {
          counts.push_back(label["images"]);
        }
        fs::remove(PathIn(folder, name));
      }
    }
    return counts;
  };
  const OtherData from_0({-1, 0, 1, -1}, "bee\ncat\ndog\n");
  const ProgramResult run = Succeeded(RunTrainResnet(eval + from_0.path()));
  EXPECT_THAT(run.err, AllOf(HasSubstr("classes: by their names; the data has "
                                       "3 (bee, cat, dog), the model 4"),
                             Not(HasSubstr("count from"))));
  EXPECT_THAT(images(), ElementsAre(0, 5, 3, 2));
  // No label shows where they count from: as in the training.
  const OtherData without_0({0, 0, 1, 1}, "bee\ncat\ndog\n");
  EXPECT_THAT(RunTrainResnet(eval + without_0.path()),
              Ends(0, HasSubstr("classes: by their names")));
  EXPECT_THAT(images(), ElementsAre(0, 0, 6, 4));
  const OtherData from_1({0, 1, 2, 0}, "bee\ncat\ndog\n");
  EXPECT_THAT(RunTrainResnet(eval + from_1.path()),
              Ends(0, HasSubstr("labels: those of this data count from 1, "
                                "unlike the training's")));
  EXPECT_THAT(images(), ElementsAre(0, 5, 3, 2));
  // Without names, only the label 3 shows that the names leave label 0 out.
  fs::remove(LabelsPath(model.path()));
  EXPECT_THAT(RunTrainResnet(eval + from_0.path()),
              Ends(2, HasSubstr("the data has 3 (bee, cat, dog), the model 4 "
                                "without names")));
  EXPECT_THAT(RunTrainResnet(eval + from_1.path()), Ends(0));
  EXPECT_THAT(images(), ElementsAre(0, 5, 3, 2));
}

TEST_F(OtherDataTest, ABackgroundHasItsName) {
  const TemporaryFolder model;
  const OtherData train({0, 1, 2, 0}, "bee\ncat\ndog\n", "train", 16);
  TrainFrom0(train, model.path(), ",label_offset=0,num_label_classes=4");
  const OtherData same({0, 1, 2, 0}, "bee\ncat\ndog\n");
  const OtherData without({-1, 0, 1, -1}, "bee\ncat\ndog\n");
  const auto classes = [&](const OtherData& data, const std::string& line) {
    const ProgramResult run = Succeeded(
        RunTrainResnet("--device cpu --mode predict --eval_split validation "
                       "--model_dir " +
                       model.path() + " --data_dir " + data.path()));
    EXPECT_THAT(run.err, HasSubstr(line));
    std::string names;
    for (const json& each : JsonLines(run.out)) {
      names += each["true_label"].get<std::string>() + " ";
    }
    return names;
  };
  EXPECT_EQ(classes(without,
                    "labels: those of this data count from 0, and have no "
                    "background; label_offset sets it\n"),
            classes(same, ""));
}

TEST_F(OtherDataTest, IsDescribedByItsOwnClasses) {
  ImageFolder folder;  // Its labels count from 1.
  for (const std::string name : {"ant", "bee", "cat", "dog"}) {
    folder.JpegsIn("validation/" + name, 1);
  }
  const TemporaryFolder model;
  const OtherData all({-1, 0, 1, 2}, "ant\nbee\ncat\ndog\n", "train", 16);
  TrainFrom0(all, model.path(), ",label_offset=0");
  EXPECT_THAT(RunTrainResnet("--device cpu --mode eval --model_dir " +
                             model.path() + " --data_dir " + folder.path()),
              Ends(0, HasSubstr("; 4 classes\n")));
}

TEST_F(OtherDataTest, ClassesWithoutNamesAreComparedByCount) {
  const OtherData none({0, 1, 2, 3}, "");
  EXPECT_EQ(EvalOn(none.path()).exit_code, 0);
  fs::remove(LabelsPath(model_.folder()));
  const OtherData two({0, 1, 0, 1}, "cat\nwolf\n");
  EXPECT_THAT(EvalOn(two.path()),
              Ends(2, HasSubstr("the model 4 without names")));
  EXPECT_EQ(EvalOn(model_.data_dir()).exit_code, 0);
}

TEST_F(OtherDataTest, GetsANewClassifierWhereItsClassesAreOthers) {
  const TemporaryFolder models;
  const auto tune = [&](const std::string& data, const std::string& name,
                        const std::string& more = "") {
    return RunTrainResnet("--device cpu --mode train --data_dir " + data +
                          " --model_dir " + (models / name) +
                          " --resnet_checkpoint " + model_.folder() +
                          " --params_override " + SmallModel::kParameters +
                          ",train_steps=1" + more);
  };
  const OtherData others({0, 1, 2, 3}, "ant\nbee\ncat\nwolf\n", "train", 16);
  EXPECT_THAT(
      tune(others.path(), "others"),
      Ends(0, AllOf(HasSubstr("the classifier fc3 starts from new weights: the "
                              "file has that of other classes"),
                    HasSubstr("its classes are 4 (ant, bee, cat, dog); the "
                              "data's are 4 (ant, bee, cat, wolf)"))));
  EXPECT_THAT(tune(others.path(), "forced", " --force").err,
              Not(HasSubstr("new weights")));
  const OtherData reversed({3, 2, 1, 0}, "dog\ncat\nbee\nant\n", "train", 16);
  EXPECT_THAT(tune(reversed.path(), "reversed"),
              Ends(0, AllOf(HasSubstr("order of the data's classes"),
                            Not(HasSubstr("new weights")))));
  // Equal images with their own classes give the same first loss.
  ASSERT_EQ(tune(model_.data_dir(), "same").exit_code, 0);
  EXPECT_NEAR(
      MetricsLines(models / "reversed", "train")[1]["loss"].get<double>(),
      MetricsLines(models / "same", "train")[1]["loss"].get<double>(), 1e-5);
  // A teacher with the same classes in another order; with others.
  const auto distill = [&](const std::string& data, const std::string& name) {
    return RunTrainResnet("--device cpu --mode train --data_dir " + data +
                          " --model_dir " + (models / name) +
                          " --distill_from " + model_.folder() +
                          " --params_override " + SmallModel::kParameters);
  };
  EXPECT_THAT(distill(reversed.path(), "taught").err,
              HasSubstr("its outputs in the order of this run's classes"));
  EXPECT_THAT(distill(others.path(), "refused"),
              Ends(2, HasSubstr("its classes are 4 (ant, bee, cat, dog)")));
}

TEST_F(OtherDataTest, ResumeRefusesOtherClasses) {
  std::ofstream(PathIn(model_.data_dir(), "labels.txt"))
      << "ant\nbee\ncat\nwolf\n";
  EXPECT_THAT(
      model_.Run("--data_dir " + model_.data_dir() + " --params_override " +
                 SmallModel::kParameters + ",train_steps=3"),
      Ends(2, HasSubstr("other classes than the model")));
}

}  // namespace
}  // namespace infeed::other_data
