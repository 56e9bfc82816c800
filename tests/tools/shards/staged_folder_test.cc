#include "tools/shards/staged_folder.h"

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::staged_folder_test {

namespace fs = std::filesystem;

class StagedFolderTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    WriteFileAtomically(Path(name), text);
  }
  std::string Read(const std::string& name) const {
    return fs::exists(Path(name)) ? ReadWholeFile(Path(name), 100) : "none";
  }
  std::string Path(const std::string& name) const { return folder_ / name; }

  const TemporaryFolder folder_;
};

TEST_F(StagedFolderTest, FilesAppearTogether) {
  Write("old", "old");
  {
    StagedFolder staged(folder_.path());
    WriteFileAtomically(staged.PathFor("new"), "new");
    WriteFileAtomically(staged.PathFor("dataset.json"), "{}");
    WriteFileAtomically(staged.SidePathFor("new.index"), "index");
    EXPECT_EQ(Read("new"), "none");
    staged.Commit({Path("old")});
    EXPECT_FALSE(fs::exists(Path(".infeed/tmp/scratch/commit")));
  }
  EXPECT_EQ(Read("old"), "none");
  EXPECT_EQ(Read("new") + Read("dataset.json") + Read(".infeed/new.index"),
            "new{}index");
  EXPECT_FALSE(fs::exists(Path(".infeed/tmp")));
}

// With the reference's layout a conversion's side files are a folder higher.
TEST_F(StagedFolderTest, AReplacedShardIsNoConversions) {
  for (const std::string folder : {".", "train"}) {
    Write(folder + "/a", "old");
    Write(".infeed/a.shard.json", "{}");
    Write(".infeed/b.shard.json", "{}");
    Write(".infeed/conversion", "key");
    StagedFolder staged(Path(folder));
    WriteFileAtomically(staged.PathFor("a"), "new");
    staged.Commit({Path(folder) + "/a"});
    EXPECT_EQ(Read(folder + "/a"), "new");
    EXPECT_EQ(Read(".infeed/conversion"), "none") << folder;
    EXPECT_EQ(Read(".infeed/a.shard.json"), "none") << folder;
    EXPECT_EQ(Read(".infeed/b.shard.json"), "{}") << folder;
  }
}

TEST_F(StagedFolderTest, WhatWasNotCommittedGoes) {
  Write(".infeed/tmp/new", "half");
  StagedFolder::FinishKilled(folder_.path());
  EXPECT_EQ(Read(".infeed/tmp/new"), "half");
  { const StagedFolder staged(folder_.path()); }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

// A run was killed before it removed old files.
TEST_F(StagedFolderTest, ABegunCommitIsFinished) {
  Write("a", "old");
  Write("b", "old");
  Write("dataset.json", "old");
  Write(".infeed/tmp/a", "new");
  Write(".infeed/tmp/dataset.json", "new");
  Write(".infeed/tmp/.infeed/a.index", "new");
  const std::string zero(1, '\0');
  Write(".infeed/tmp/scratch/commit", "a" + zero + "b" + zero);
  StagedFolder::FinishKilled(folder_.path());
  EXPECT_EQ(Read("a") + Read("b") + Read("dataset.json"), "newnonenew");
  EXPECT_EQ(Read(".infeed/a.index"), "new");
  EXPECT_FALSE(fs::exists(Path(".infeed/tmp")));
}

// A data set's folder may come with the stage of a run of somebody else.
TEST_F(StagedFolderTest, AJournalRemovesNoFileElsewhere) {
  const TemporaryFolder elsewhere;
  WriteFileAtomically(elsewhere / "precious", "old");
  const std::string zero(1, '\0');
  for (const std::string& name :
       {elsewhere / "precious",
        fs::relative(elsewhere / "precious", folder_.path()).string(),
        std::string("a/b"), std::string("..")}) {
    Write(".infeed/tmp/scratch/commit", name + zero);
    EXPECT_THAT(MessageOf<DataError>(
                    [&] { StagedFolder::FinishKilled(folder_.path()); }),
                HasSubstr("scratch/commit: would remove a file"))
        << name;
  }
  EXPECT_EQ(ReadWholeFile(elsewhere / "precious", 100), "old");
}

TEST_F(StagedFolderTest, LiesBehindNoLink) {
  const TemporaryFolder elsewhere;
  WriteFileAtomically(elsewhere / "tmp", "old");
  fs::create_directory_symlink(elsewhere.path(), Path(".infeed"));
  EXPECT_THAT(
      MessageOf<IoError>([&] { const StagedFolder staged(folder_.path()); }),
      HasSubstr(".infeed: is a symbolic link"));
  EXPECT_EQ(ReadWholeFile(elsewhere / "tmp", 100), "old");
}

// The stage's folders are as much a stranger's as the stage.
TEST_F(StagedFolderTest, AJournalMovesNoFileFromElsewhere) {
  const TemporaryFolder elsewhere;
  WriteFileAtomically(elsewhere / "commit", "");
  for (const std::string& name :
       {std::string(".infeed"), std::string("scratch")}) {
    fs::remove_all(Path(".infeed"));
    Write(".infeed/tmp/scratch/commit", "");
    Write(".infeed/tmp/.infeed/a.index", "");
    fs::remove_all(Path(".infeed/tmp/" + name));
    fs::create_directory_symlink(elsewhere.path(), Path(".infeed/tmp/" + name));
    EXPECT_THAT(
        MessageOf<IoError>([&] { StagedFolder::FinishKilled(folder_.path()); }),
        HasSubstr(name + ": is a symbolic link"));
    EXPECT_TRUE(fs::exists(elsewhere / "commit")) << name;
  }
}

// A run was killed when some files had their names.
TEST_F(StagedFolderTest, RenamedFilesStay) {
  Write("a", "new");
  Write(".infeed/tmp/dataset.json", "new");
  Write(".infeed/tmp/.infeed/a.index", "new");
  Write(".infeed/tmp/scratch/commit", "");
  StagedFolder::FinishKilled(folder_.path());
  EXPECT_EQ(Read("a") + Read("dataset.json"), "newnew");
}

}  // namespace infeed::staged_folder_test
