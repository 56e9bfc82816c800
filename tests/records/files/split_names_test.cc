#include "records/files/split_names.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/record_files.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::split_names_test {

TEST(SplitNames, AreKnownInAnyCase) {
  for (const std::string_view word : {"train", "Training", "TRAIN"}) {
    EXPECT_EQ(SplitNamed(word), "train") << word;
  }
  for (const std::string_view word :
       {"val", "valid", "Validation", "DEV", "eval"}) {
    EXPECT_EQ(SplitNamed(word), "validation") << word;
  }
  for (const std::string_view word : {"Test", "testing"}) {
    EXPECT_EQ(SplitNamed(word), "test") << word;
  }
  for (const std::string_view word : {"", "trains", "tests", "contest"}) {
    EXPECT_EQ(SplitNamed(word), "") << word;
    EXPECT_THROW((void)RequireSplitName(word), UsageError) << word;
  }
}

TEST(SplitNames, AreWordsOfTheirOwnInFileNames) {
  EXPECT_EQ(SplitInName("imagenet2012-train.tfrecord-00000-of-01024"), "train");
  EXPECT_EQ(SplitInName("train00-512x512-798.tfrec"), "train");
  EXPECT_EQ(SplitInName("imagenet1k-validation-03.tar"), "validation");
  EXPECT_EQ(SplitInName("Val_7.tar"), "validation");
  EXPECT_EQ(SplitInName("ILSVRC2012_img_train.tar"), "train");
  EXPECT_EQ(SplitInName("set_dev.zip"), "validation");
  EXPECT_EQ(SplitInName("test.zip"), "test");
  EXPECT_EQ(SplitInName("constraints-0.tar"), "");
  EXPECT_EQ(SplitInName("latest.tar"), "");
}

TEST(SplitNames, AreLikelyInWordsOfFolders) {
  for (const auto& [folder, split] : {std::pair{"train_set", "train"},
                                      {"TrainSet", "train"},
                                      {"ValidationData", "validation"},
                                      {"x-testimages", "test"},
                                      {"imagesTr", "train"},
                                      {"labelsTs", "test"},
                                      {"testB", "test"},
                                      {"settee", ""},
                                      {"trains", ""},
                                      {"valley", ""},
                                      {"tr", ""},
                                      {"training", "train"},
                                      {"contest", ""},
                                      {"dataset", ""}}) {
    EXPECT_EQ(LikelySplit(folder), split) << folder;
  }
}

TEST(SplitNames, OfTensorflowDatasetsAreBeforeTheEnding) {
  for (const char* name : {"train_set-validation.tfrecord-00000-of-00001",
                           "test_2017-VAL.tfrecord-00000-of-00001.gz"}) {
    EXPECT_EQ(SplitInName(name), "validation") << name;
    EXPECT_FALSE(NamesTwoSplits(name)) << name;
  }
  for (const char* name :
       {"set-train_test.tfrecord-00000-of-00001",
        "set-train-test.tfrecord-00000-of-00001", "a-train-val.tfrecord",
        "train.tfrecord-val", "train.tfrecord-00000-of-00001-val"}) {
    EXPECT_EQ(SplitInName(name), "train") << name;
    EXPECT_TRUE(NamesTwoSplits(name)) << name;
  }
}

TEST(SplitNames, TwoInOneNameAreRefused) {
  EXPECT_EQ(MessageOf<UsageError>(
                [] { RefuseTwoSplits("s3://b/test/train_set-val-0.tar"); }),
            "s3://b/test/train_set-val-0.tar: its name has words for two "
            "splits, train and val: rename the file so that it names one");
  for (const char* name :
       {"train_set-train-0.tar", "val/train.tar", "training-train.tar", "",
        "dev_eval.tar", "constraints-test.tar"}) {
    EXPECT_NO_THROW(RefuseTwoSplits(name)) << name;
  }
}

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

TEST(RecordFiles, AreKnownByShardNamesAndEndings) {
  for (const char* name :
       {"train-00000-of-00008", "train00-512x512-798.tfrec", "a.TFRecord",
        "a.tfrecord.gz", "b.tar", "b.tar.gz", "b.tgz", "photos.ZIP",
        "x-train.tfrecord-00000-of-01024"}) {
    EXPECT_TRUE(IsRecordFileName(name)) << name;
  }
  for (const char* name :
       {".tar", "a.tar.index", "a.gz", "a.jpg", "tar", "dataset.json"}) {
    EXPECT_FALSE(IsRecordFileName(name)) << name;
  }
}

TEST(RecordFiles, HaveANumberInTheirSetBeforeTheirEnding) {
  for (const char* name : {"a-00003-of-00008", "a-00003-of-00008.gz",
                           "a-00003-of-00008.tfrecord.gz",
                           "a-00003-of-00008.Tar", "a-00003-of-00008.tgz"}) {
    const std::optional<ShardNameParts> parts = ParseNameInSet(name);
    ASSERT_TRUE(parts) << name;
    EXPECT_EQ(parts->prefix, "a") << name;
    EXPECT_EQ(parts->number, "00003") << name;
    EXPECT_EQ(parts->count, "00008") << name;
  }
  for (const char* name : {"a-00003-of-00008.idx", "a-00003.tar", "a.tar",
                           "a-00003-of-00008.jpg.tar", ".tar"}) {
    EXPECT_FALSE(ParseNameInSet(name)) << name;
  }
}

TEST(RecordFiles, CommasInBracesDivideNoList) {
  EXPECT_THAT(SplitAtCommas("a,{b,c}.tar,,d"),
              ElementsAre("a", "{b,c}.tar", "d"));
  EXPECT_THAT(SplitAtCommas(""), SizeIs(0));
}

TEST(RecordFiles, PathsMayHaveCommas) {
  EXPECT_THAT(SplitAtCommas("a\\,b.tar,c.tar"),
              ElementsAre("a,b.tar", "c.tar"));
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a,b.tar", "");
  std::filesystem::create_directories(folder / "x,y");
  const std::string c = folder / "c.tar";
  EXPECT_THAT(DataPaths(folder / "a,b.tar"), ElementsAre(folder / "a,b.tar"));
  EXPECT_THAT(DataPaths(c + "," + (folder / "a,b.tar") + "," + c),
              ElementsAre(c, folder / "a,b.tar", c));
  EXPECT_THAT(DataPaths(c + "," + (folder / "x,y/train-*")),
              ElementsAre(c, folder / "x,y/train-*"));
  EXPECT_THAT(DataPaths("no,such,file"), ElementsAre("no", "such", "file"));
}

TEST(RecordFiles, BracesExpandAsInAShell) {
  EXPECT_THAT(ExpandBraces("a-{008..010}.tar"),
              ElementsAre("a-008.tar", "a-009.tar", "a-010.tar"));
  EXPECT_THAT(ExpandBraces("{a,b}{1..2}"), ElementsAre("a1", "a2", "b1", "b2"));
  EXPECT_THAT(ExpandBraces("plain.tar"), ElementsAre("plain.tar"));
  EXPECT_THAT(ExpandBraces("open{1..2"), ElementsAre("open{1..2"));
  EXPECT_THAT(ExpandBraces("s3://b/{0..999}.tar"), SizeIs(1000));
}

TEST(RecordFiles, BracesThatAreNoRangeOrTooManyAreRefused) {
  for (const char* name : {"{3..1}", "{a..c}", "{..2}", "{1..}"}) {
    EXPECT_THROW((void)ExpandBraces(name), UsageError) << name;
  }
  EXPECT_THROW((void)ExpandBraces("{0..1000000}"), UsageError);
  EXPECT_THROW((void)ExpandBraces("{0..1999}{0..1999}"), UsageError);
}

}  // namespace infeed::split_names_test
