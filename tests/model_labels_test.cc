#include "trainer/model_labels.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "records/dataset_info.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ModelLabelsTest, AreThoseOfDatasetJson) {
  const TemporaryFolder data;
  DatasetInfo info;
  info.classes = {"cat", "dog"};
  WriteDatasetInfo(data.path(), info);
  WriteFileAtomically(data / "labels.txt", "others\n");
  const ModelLabels labels = ModelLabels::OfData(data.path(), 2);
  EXPECT_THAT(labels.names(), ElementsAre("cat", "dog"));
  EXPECT_EQ(labels.NameOf(1), "dog");
  EXPECT_EQ(labels.NameOf(2), "2");
  EXPECT_EQ(labels.NameOf(-1), "-1");
  EXPECT_EQ(labels.IndexOf("dog"), 1);
  EXPECT_EQ(labels.IndexOf("cow"), std::nullopt);
}

TEST(ModelLabelsTest, ElseThoseOfLabelsTxt) {
  const TemporaryFolder data;
  EXPECT_THAT(ModelLabels::OfData(data.path(), 2).names(), IsEmpty());
  WriteFileAtomically(data / "labels.txt", "cat\r\ndog\n\ncow");
  EXPECT_THAT(ModelLabels::OfData(data.path(), 4).names(),
              ElementsAre("cat", "dog", "", "cow"));
}

TEST(ModelLabelsTest, OfTheReferences1001ClassesBeginWithTheBackground) {
  const std::vector<std::string> names(1000, "a class");
  const ModelLabels labels(names, 1001);
  EXPECT_EQ(labels.names().size(), 1001U);
  EXPECT_EQ(labels.NameOf(0), "background");
  EXPECT_EQ(LabelOffset(1001), 0);
  EXPECT_EQ(ModelLabels(names, 1000).names().size(), 1000U);
  EXPECT_EQ(LabelOffset(1000), 1);
}

TEST(ModelLabelsTest, GoWithTheModel) {
  const TemporaryFolder model;
  EXPECT_THAT(ModelLabels::OfModel(model.path()).names(), IsEmpty());
  ModelLabels({"two\nlines", "dog"}, 2).Save(model.path());
  EXPECT_THAT(ModelLabels::OfModel(model.path()).names(),
              ElementsAre("two lines", "dog"));
  ModelLabels().Save(model.path());
  EXPECT_EQ(ModelLabels::OfModel(model.path()).names().size(), 2U);
}

}  // namespace
}  // namespace infeed
