#include "records/files/siblings.h"

#include "tests/support/image_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace siblings_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SiblingsTest, AreTheSplitsAndShardsOfOneName) {
  ImageFolder data;
  for (const char* name :
       {"cifar10-train-000.tar", "cifar10-train-001.tar", "cifar10-Val-0.tar",
        "cifar100-train-000.tar", "other.tar", "train.csv"}) {
    data.File(name, "");
  }
  EXPECT_THAT(FindSiblings({data / "cifar10-Val-0.tar"}),
              ElementsAre(data / "cifar10-train-000.tar",
                          data / "cifar10-train-001.tar"));
  EXPECT_THAT(FindSiblings({data / "cifar100-train-000.tar"}), IsEmpty());
  EXPECT_THAT(FindSiblings({data / "other.tar"}), IsEmpty());
}

TEST(SiblingsTest, AreInTheFoldersOfSplits) {
  ImageFolder data;
  data.File("train/a-0.tfrecord", "")
      .File("val/b.tfrecord", "")
      .File("more/c.tfrecord", "");
  EXPECT_THAT(FindSiblings({data / "val/b.tfrecord"}),
              ElementsAre(data / "train/a-0.tfrecord"));
  EXPECT_THAT(FindSiblings({data / "more/c.tfrecord"}), IsEmpty());
}

TEST(SiblingsTest, AreNumberedShards) {
  ImageFolder data;
  data.File("part-0.tfrecord", "")
      .File("part-1.tfrecord", "")
      .File("part-10.tfrecord", "");
  EXPECT_THAT(FindSiblings({data / "part-1.tfrecord"}),
              ElementsAre(data / "part-0.tfrecord"));
  for (const char* name : {"train-00000-of-00010", "train-00009-of-00010",
                           "validation-00000-of-00002"}) {
    data.File(name, "");
  }
  EXPECT_THAT(FindSiblings({data / "validation-00000-of-00002"}),
              ElementsAre(data / "train-00000-of-00010",
                          data / "train-00009-of-00010"));
}

}  // namespace siblings_test
}  // namespace infeed
