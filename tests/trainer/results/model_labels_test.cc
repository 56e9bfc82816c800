#include "trainer/results/model_labels.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/dataset_info.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

TEST(ModelLabelsTest, DatasetJsonGivesTheNames) {
  const TemporaryFolder data;
  WriteDatasetInfo(data.path(), {.classes = {"cat", "dog"}});
  WriteFileAtomically(data / "labels.txt", "others\n");
  const ModelLabels labels =
      ModelLabels::OfData(ClassesBeside(data / "x"), 2, 1);
  EXPECT_THAT(labels.names(), ElementsAre("cat", "dog"));
  EXPECT_EQ(labels.NameOf(1), "dog");
  EXPECT_EQ(labels.NameOf(2), "2");
  EXPECT_EQ(labels.NameOf(-1), "-1");
  EXPECT_EQ(labels.IndexOf("dog"), 1);
  EXPECT_EQ(labels.IndexOf("cow"), std::nullopt);
}

TEST(ModelLabelsTest, LabelsTxtGivesTheNames) {
  const TemporaryFolder data;
  EXPECT_THAT(ModelLabels::OfData(ClassesBeside(data / "x"), 2, 1).names(),
              IsEmpty());
  WriteFileAtomically(data / "labels.txt", "cat\r\ndog\nhen\ncow");
  for (const int label_offset : {0, 1}) {
    EXPECT_THAT(
        ModelLabels::OfData(ClassesBeside(data / "x"), 4, label_offset).names(),
        ElementsAre("cat", "dog", "hen", "cow"));
  }
  EXPECT_THAT(ModelLabels::OfData(ClassesBeside(data / "x"), 5, 0).names(),
              ElementsAre("background", "cat", "dog", "hen", "cow"));
}

TEST(ModelLabelsTest, FollowTheLabelOffset) {
  const TemporaryFolder data;
  DatasetInfo info = {.classes = {"cat", "dog"}, .first_label = 0};
  const auto names = [&](int num_classes, int label_offset) {
    WriteDatasetInfo(data.path(), info);
    return ModelLabels::OfData(ClassesBeside(data / "x"), num_classes,
                               label_offset)
        .names();
  };
  EXPECT_THAT(names(2, 0), ElementsAre("cat", "dog"));
  EXPECT_THAT(names(1, 1), ElementsAre("dog"));
  info.first_label = 1;
  EXPECT_THAT(names(2, 1), ElementsAre("cat", "dog"));
  EXPECT_THAT(names(3, 0), ElementsAre("background", "cat", "dog"));
}

TEST(ModelLabelsTest, The1001ClassesBeginWithTheBackground) {
  const TemporaryFolder data;
  DatasetInfo info;
  info.classes.assign(1000, "a class");
  WriteDatasetInfo(data.path(), info);
  const ModelLabels labels =
      ModelLabels::OfData(ClassesBeside(data / "x"), 1001, 0);
  EXPECT_EQ(labels.names().size(), 1001U);
  EXPECT_EQ(labels.NameOf(0), "background");
  EXPECT_EQ(
      ModelLabels::OfData(ClassesBeside(data / "x"), 1000, 1).names().size(),
      1000U);
}

TEST(ModelLabelsTest, TheModelKeepsItsNames) {
  const TemporaryFolder model;
  EXPECT_THAT(ModelLabels::OfModel(model.path()).names(), IsEmpty());
  ModelLabels({"a cat", "dog"}).Save(model.path());
  EXPECT_THAT(ModelLabels::OfModel(model.path()).names(),
              ElementsAre("a cat", "dog"));
  ModelLabels().Save(model.path());
  EXPECT_EQ(ModelLabels::OfModel(model.path()).names().size(), 2U);
}

// preprocessing.json has them: it is written in UTF-8.
TEST(ModelLabelsTest, NamesAreInUtf8) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "labels.txt", "cat\nk\xE4se\n");
  EXPECT_THAT(ModelLabels::OfModel(folder.path()).names(),
              ElementsAre("cat", "k\\xe4se"));
  EXPECT_THAT(ModelLabels::OfData(ClassesBeside(folder / "x"), 2, 1).names(),
              ElementsAre("cat", "k\\xe4se"));
}

}  // namespace
}  // namespace infeed
