#include "trainer/params/class_weights.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::class_weights_test {

// Four images of ants, two of bees, none of cats, ten of dogs.
class ClassWeightsTest : public testing::Test {
 protected:
  ClassWeightsTest() {
    raw_.JpegsIn("train/ant", 4)
        .JpegsIn("train/bee", 2)
        .JpegsIn("train/dog", 10);
    raw_.Folder("train/cat").File("train/cat/notes.txt", "");
    params_.values.input.num_label_classes = 3;
    params_.values.input.label_offset = 1;
  }

  std::vector<double> Weights(const std::string& given,
                              const SelectionChoice& selection = {}) {
    RunParams run = params_;
    run.values.loss_class_weights = given;
    const DataSet data(raw_.path(), {.selection = selection});
    ResolveClassWeights(data, run);
    return run.values.optimizer.loss.class_weights;
  }
  std::vector<double> WeightsOf(const std::string& lines) {
    std::ofstream(file_) << lines;
    return Weights(file_);
  }
  std::string ErrorOf(const std::string& lines) {
    return MessageOf<UsageError>([&] { (void)WeightsOf(lines); });
  }

  ImageFolder raw_;
  TemporaryFolder work_;
  const std::string file_ = work_ / "weights.txt";
  RunParams params_;
};

// sklearn's compute_class_weight("balanced"): n / (classes * count).
TEST_F(ClassWeightsTest, BalancedAreInverseToTheCounts) {
  EXPECT_THAT(Weights(""), IsEmpty());
  EXPECT_THAT(Weights("balanced"),
              ElementsAre(DoubleEq(16 / 12.0), DoubleEq(16 / 6.0),
                          DoubleEq(16 / 30.0)));
}

TEST_F(ClassWeightsTest, BalancedCountsWhatIsSelected) {
  SelectionChoice selection;
  selection.subset = work_ / "subset.txt";
  std::ofstream(selection.subset) << "0\n4\n5\n";  // An ant and the bees.
  EXPECT_THAT(Weights("balanced", selection),
              ElementsAre(DoubleEq(1.5), DoubleEq(0.75), DoubleEq(1)));
}

TEST_F(ClassWeightsTest, AFileHasNamesOrLabels) {
  EXPECT_THAT(WeightsOf("dog 0.5\nant 2\nbee 0\n"), ElementsAre(2, 0, 0.5));
  EXPECT_THAT(WeightsOf("1 2\n2 1\n3 0.5\n"), ElementsAre(2, 1, 0.5));
}

TEST_F(ClassWeightsTest, AFileHasNamesOfLabelsTxt) {
  TemporaryFolder data;
  RecordFile file;
  for (const std::int64_t label : {0, 1}) {
    ImagenetExample example;
    example.label = label;
    example.encoded = "image";
    file.Add(BuildImagenetExample(example));
  }
  file.Write(data / "train-00000-of-00001");
  std::ofstream(data / "labels.txt") << "ant\nbee\n";
  std::ofstream(file_) << "bee 3\nant 2\n";
  RunParams run;
  run.values.input.num_label_classes = 2;
  run.values.input.label_offset = 0;
  run.values.loss_class_weights = file_;
  ResolveClassWeights(DataSet(data.path()), run);
  EXPECT_THAT(run.values.optimizer.loss.class_weights, ElementsAre(2, 3));
}

TEST_F(ClassWeightsTest, RefusesInOneLine) {
  for (const auto& [lines, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"ant 1\nbee 1\n", "has no weight for class dog"},
           {"ant 1\nbee 1\ndog 1\nemu 1\n", "there is no class \"emu\""},
           {"ant 1\nbee 1\ndog 1\n7 1\n", "7 is not a class of the model"},
           {"ant 1\nbee 1\ndog 1\n1 1\n", "already has a weight"},
           {"ant 0\nbee 0\ndog 0\n", "all weights are 0"},
           {"ant -1\n", "line 1: \"ant -1\" is not a class and its weight"}}) {
    const std::string error = ErrorOf(lines);
    EXPECT_THAT(error, HasSubstr("loss_class_weights=" + file_ + ": "));
    EXPECT_THAT(error, HasSubstr(why));
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)Weights("none.txt"); }),
              HasSubstr("loss_class_weights=none.txt: "));
  params_.values.loss_class_weights = "balanced";
  EXPECT_THAT(MessageOf<UsageError>(
                  [&] { ResolveClassWeights(DataSet("null"), params_); }),
              HasSubstr("loss_class_weights=balanced: fake data"));
}

}  // namespace infeed::class_weights_test
