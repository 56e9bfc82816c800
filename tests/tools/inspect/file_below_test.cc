#include "tools/inspect/file_below.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

TEST(FileBelowTest, WritesTheFileAndNothingElse) {
  const TemporaryFolder folder;
  WriteFileBelow(folder.path(), "a", AsBytes("old and long"));
  WriteFileBelow(folder.path(), "a", AsBytes("new"));
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "new");
  const fs::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(FileBelowTest, MakesMissingFolders) {
  const TemporaryFolder folder;
  WriteFileBelow(folder.path(), "train/cats/a", AsBytes("1"));
  WriteFileBelow(folder.path(), "train/cats/b", AsBytes("2"));
  EXPECT_EQ(ReadWholeFile(folder / "train/cats/b", 100), "2");
}

TEST(FileBelowTest, RefusesPathsThatLeadElsewhere) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out");
  for (const char* path :
       {"../a", "..", ".", "", "/a", "a/", "a//b", "a/../b", "a/../../b"}) {
    EXPECT_THAT(MessageOf<DataError>([&] {
                  WriteFileBelow(folder / "out", path, AsBytes("x"));
                }),
                HasSubstr("is not a path below a folder"))
        << path;
  }
  EXPECT_FALSE(fs::exists(folder / "a"));
  EXPECT_FALSE(fs::exists(folder / "b"));
}

TEST(FileBelowTest, FollowsNoLinks) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "out");
  fs::create_directory(folder / "elsewhere");
  WriteFileBelow(folder.path(), "precious", AsBytes("old"));
  fs::create_directory_symlink(folder / "elsewhere", folder / "out/cats");
  fs::create_symlink(folder / "precious", folder / "out/b.part");
  fs::create_symlink(folder / "precious", folder / "out/c");
  EXPECT_THAT(MessageOf<IoError>([&] {
                WriteFileBelow(folder / "out", "cats/a", AsBytes("x"));
              }),
              HasSubstr("out/cats: is a symbolic link"));
  WriteFileBelow(folder / "out", "b", AsBytes("x"));
  EXPECT_FALSE(fs::is_symlink(folder / "out/b"));
  // The link itself is replaced.
  WriteFileBelow(folder / "out", "c", AsBytes("new"));
  EXPECT_FALSE(fs::is_symlink(folder / "out/c"));
  EXPECT_EQ(ReadWholeFile(folder / "precious", 100), "old");
  EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
}

TEST(FileBelowTest, SaysWhatItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { WriteFileBelow(folder / "no", "a", AsBytes("x")); }),
              HasSubstr("no: cannot open"));
  fs::create_directory(folder / "taken");
  EXPECT_THAT(MessageOf<IoError>([&] {
                WriteFileBelow(folder.path(), "taken", AsBytes("x"));
              }),
              HasSubstr("taken: cannot write"));
  EXPECT_FALSE(fs::exists(folder / "taken.part"));
}

}  // namespace
}  // namespace infeed
