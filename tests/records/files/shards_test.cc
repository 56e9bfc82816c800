#include "records/files/shards.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/files/side_file.h"
#include "tests/support/empty_files.h"
#include "tests/support/environment_variable.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

// A data set's folder, filled with files of no bytes.
class ShardsTest : public ::testing::Test {
 protected:
  // Makes files and the folders they are in.
  void Make(const std::vector<std::string>& names) {
    MakeEmptyFiles(folder_, names);
  }
  // Files that a specification finds, relative to the folder.
  std::vector<std::string> List(const std::string& spec) {
    return Relative(ListShards(spec));
  }
  std::vector<std::string> Split(const std::string& split) {
    return Relative(FindSplit(folder_.path(), split));
  }
  std::vector<std::string> Relative(std::vector<std::string> paths) {
    for (std::string& path : paths) {
      EXPECT_THAT(path, StartsWith(folder_.path() + "/"));
      path.erase(0, folder_.path().size() + 1);
    }
    return paths;
  }

  const TemporaryFolder folder_;
};

TEST(ShardNameTest, IsTheReferences) {
  EXPECT_EQ(ShardName("train", 3, 8), "train-00003-of-00008");
  EXPECT_EQ(ShardName("validation", 0, 128), "validation-00000-of-00128");
  EXPECT_TRUE(IsShardName(ShardName("train", 123456, 1234567)));
}

TEST(ShardNameTest, RecognisesShardsAlone) {
  EXPECT_TRUE(IsShardName("train-00003-of-00008"));
  EXPECT_TRUE(IsShardName("train-00003-of-00008.gz"));
  for (const char* name :
       {"", "train", "train-00003-of-00008.idx", "train-00003-of-00008.tmp-7",
        "train-0003-of-0008", "train-00003of00008", "-00003-of-00008",
        "train-00003-of-", "00003-of-00008", "train-00003-of-00008.gz.gz"}) {
    EXPECT_FALSE(IsShardName(name)) << name;
  }
}

TEST_F(ShardsTest, TakesTheShardsOfAFolder) {
  Make({"flat/train-00001-of-00002", "flat/train-00000-of-00002",
        "flat/dataset.json", "flat/.infeed/train-00000-of-00002.index",
        "flat/validation-00000-of-00001", "flat/train-00000-of-00002.idx",
        "flat/idx/train-00000-of-00001.idx", "any.tfrecord",
        "deep/train/train-00000-of-00001",
        "deep/train/train-00000-of-00001.idx",
        "deep/other/other-00000-of-00001"});
  EXPECT_THAT(
      List(folder_ / "flat"),
      ElementsAre("flat/train-00000-of-00002", "flat/train-00001-of-00002",
                  "flat/validation-00000-of-00001"));
  EXPECT_THAT(
      List(folder_ / "flat/train-*"),
      ElementsAre("flat/train-00000-of-00002", "flat/train-00001-of-00002"));
  EXPECT_THAT(List(folder_ / "deep"),
              ElementsAre("deep/train/train-00000-of-00001"));
  EXPECT_THAT(List(folder_ / "any.tfrecord"), ElementsAre("any.tfrecord"));
}

TEST_F(ShardsTest, APatternPassesOverFoldersThatMatch) {
  Make({"train-00000-of-00001", "training-00000-of-00001/something"});
  EXPECT_THAT(List(folder_ / "train*"), ElementsAre("train-00000-of-00001"));
}

TEST_F(ShardsTest, JoinsAListAndTakesEachOnce) {
  Make({"b-00000-of-00001", "a-00000-of-00001"});
  const std::string spec = (folder_ / "b-*") + "," + (folder_ / "a-*") + ",," +
                           (folder_ / "./b-00000-of-00001");
  EXPECT_THAT(List(spec), ElementsAre("b-00000-of-00001", "a-00000-of-00001"));
}

TEST_F(ShardsTest, KeepsTheOrderOfAListAndSortsWithinAPattern) {
  Make({"B/1.tar", "B/0.tar", "A/0.tar", "part9.tar", "part10.tar"});
  EXPECT_THAT(List((folder_ / "part9.tar") + "," + (folder_ / "B/*.tar") + "," +
                   (folder_ / "A")),
              ElementsAre("part9.tar", "B/0.tar", "B/1.tar", "A/0.tar"));
  EXPECT_THAT(List(folder_ / "part{9..10}.tar"),
              ElementsAre("part9.tar", "part10.tar"));
  EXPECT_THAT(List(folder_ / "part*.tar"),
              ElementsAre("part10.tar", "part9.tar"));
}

TEST_F(ShardsTest, NamesThePartThatIsMissing) {
  Make({"a-00000-of-00001", "raw/train/n01440764/a.JPEG"});
  for (const auto& [spec, fault] :
       {std::pair((folder_ / "a-*") + "," + (folder_ / "none"),
                  "/none: cannot find the data"),
        {folder_ / "b-*", "no shard matches"},
        {",", "no data"},
        {folder_ / "raw", "has no shards"},
        // The system's limit on a path's length stands for any refusal.
        {folder_ / std::string(5000, 'x') + "/*", ""}}) {
    EXPECT_THAT(([&, &spec = spec] { List(spec); }),
                ThrowsMessage<IoError>(HasSubstr(fault)));
  }
}

TEST_F(ShardsTest, NamesTheCommandThatReadsParquetFiles) {
  Make({"hf/README.md", "hf/data/train-00000-of-00001.parquet",
        "hf/a/.b.parquet", "other/1.csv"});
  const std::string hint = (folder_ / "hf/data") +
                           " has Parquet files: `infeed convert " +
                           (folder_ / "hf/data") + " SHARDS`";
  for (const char* spec : {"hf", "hf/data", "hf/data/*.parquet", "hf/*/*"}) {
    EXPECT_THAT(([&] { List(folder_ / spec); }),
                ThrowsMessage<IoError>(HasSubstr(hint)));
  }
  for (const char* spec : {"other", "other/*", "hf/a/*", "hf/data/*.tar"}) {
    EXPECT_THAT(([&] { List(folder_ / spec); }),
                ThrowsMessage<IoError>(Not(HasSubstr("Parquet"))));
  }
}

TEST_F(ShardsTest, FindsASplitInBothLayouts) {
  Make({"train-00000-of-00001", "train-extra-00000-of-00001",
        "validation/validation-00000-of-00001", "validation/notes.txt"});
  EXPECT_THAT(Split("train"), ElementsAre("train-00000-of-00001"));
  EXPECT_THAT(Split("validation"),
              ElementsAre("validation/validation-00000-of-00001"));
  EXPECT_EQ(Split("val"), Split("validation"));
  EXPECT_THAT(Split("test"), IsEmpty());
}

TEST_F(ShardsTest, ASplitNeedsAFolder) {
  Make({"data/train", "file"});
  EXPECT_THAT(FindSplit(folder_ / "data", "train"), IsEmpty());
  EXPECT_THAT([&] { (void)FindSplit(folder_ / "none", "train"); },
              ThrowsMessage<IoError>(HasSubstr("/none: cannot read the folder:"
                                               " No such file")));
  EXPECT_THAT([&] { (void)FindSplit(folder_ / "file", "train"); },
              ThrowsMessage<IoError>(HasSubstr("Not a directory")));
}

TEST_F(ShardsTest, LookingForSideFilesMakesNothing) {
  const EnvironmentVariable cache("XDG_CACHE_HOME", folder_ / "cache");
  const std::vector<std::string> folders = SideFolders(folder_.path());
  ASSERT_EQ(folders.size(), 2U);
  EXPECT_EQ(folders[0], folder_ / ".infeed");
  EXPECT_THAT(folders[1], StartsWith(folder_ / "cache/infeed/"));
  EXPECT_EQ(SidePaths(folder_ / "x", ".index"),
            (std::vector{folders[0] + "/x.index", folders[1] + "/x.index"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(ShardsTest, SideFilesFallBackToTheUsersCache) {
  Make({"data/.infeed", "other/.infeed"});  // A file: no folder can be there.
  const EnvironmentVariable cache("XDG_CACHE_HOME", folder_ / "cache");
  const std::string side = SideFolder(folder_ / "data");
  EXPECT_THAT(side, StartsWith(folder_ / "cache/infeed/"));
  EXPECT_TRUE(std::filesystem::is_directory(side));
  EXPECT_EQ(SideFolder(folder_ / "other/../data"), side);
  EXPECT_NE(SideFolder(folder_ / "other"), side);
  const EnvironmentVariable none("XDG_CACHE_HOME", "");
  const EnvironmentVariable home("HOME", folder_ / "home");
  EXPECT_THAT(SideFolder(folder_ / "data"),
              StartsWith(folder_ / "home/.cache/infeed/"));
}

TEST_F(ShardsTest, SaysThatSideFilesHaveNoPlace) {
  Make({"data/.infeed", "file"});
  const EnvironmentVariable cache("XDG_CACHE_HOME", folder_ / "file");
  EXPECT_THAT([&] { (void)SideFolder(folder_ / "data"); },
              ThrowsMessage<IoError>(
                  HasSubstr("neither " + (folder_ / "data/.infeed"))));
  const EnvironmentVariable none("XDG_CACHE_HOME", "");
  const EnvironmentVariable home("HOME", "");
  EXPECT_THAT([&] { (void)SideFolder(folder_ / "data"); },
              ThrowsMessage<IoError>(HasSubstr("HOME is not set")));
}

}  // namespace
}  // namespace infeed
