#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "records/files/folder_listing.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::folder_walk_test {

namespace fs = std::filesystem;

std::vector<std::string> Names(const FolderWalk& walk) {
  std::vector<std::string> names;
  for (const FolderEntry& image : walk.images) {
    names.push_back(image.name);
  }
  return names;
}

TEST(FolderWalkTest, GoesToTheEndInTheOrderOfPaths) {
  ImageFolder raw;
  raw.Jpegs({"b/1.jpg", "b-c/1.jpg", "b/a/x/2.jpg", "top.jpg"})
      .File("b/notes.txt", "x")
      .File(".git/3.jpg", "x")
      .Folder("empty");
  const FolderWalk walk = WalkFolder(raw.path() + "/");
  EXPECT_THAT(Names(walk),
              ElementsAre("b-c/1.jpg", "b/1.jpg", "b/a/x/2.jpg", "top.jpg"));
  EXPECT_THAT(walk.ignored, UnorderedElementsAre("b/notes.txt", ".git"));
  EXPECT_THAT(walk.empty, ElementsAre("empty"));
}

TEST(FolderWalkTest, LinksThatLeadUpEnd) {
  ImageFolder raw;
  raw.Jpegs({"a/1.jpg", "b/2.jpg"});
  fs::create_directory_symlink("..", raw / "a/up");
  fs::create_directory_symlink(".", raw / "self");
  fs::create_directory_symlink(".", raw / "self2");
  fs::create_directory_symlink("../b", raw / "a/other");
  fs::create_directory_symlink("../a", raw / "b/other");
  const FolderWalk walk = WalkFolder(raw.path());
  // A class has what its links lead to, once.
  EXPECT_THAT(Names(walk), ElementsAre("a/1.jpg", "a/other/2.jpg", "b/2.jpg",
                                       "b/other/1.jpg"));
  EXPECT_THAT(walk.ended, SizeIs(6));
}

TEST(FolderWalkTest, LinksDoNotLeadAroundTheFolder) {
  ImageFolder raw;
  raw.Jpegs({"set/a/1.jpg", "set/b/2.jpg", "another/3.jpg"});
  fs::create_directory_symlink("../..", raw / "set/a/above");
  fs::create_directory_symlink("/", raw / "set/root");
  const FolderWalk walk = WalkFolder(raw / "set");
  EXPECT_THAT(Names(walk), ElementsAre("a/1.jpg", "b/2.jpg"));
  EXPECT_THAT(walk.ended, ElementsAre("a/above", "root"));
}

TEST(FolderWalkTest, APipeIsNoImage) {
  ImageFolder raw;
  raw.Jpeg("a/1.jpg");
  ASSERT_EQ(::mkfifo((raw / "a/p.jpg").c_str(), 0600), 0);
  EXPECT_THAT(MessageOf<IoError>([&] { (void)WalkFolder(raw.path()); }),
              HasSubstr("a/p.jpg: cannot read: it is not a regular file"));
}

TEST(FolderWalkTest, KindsAndSizesAreThoseThatLinksLeadTo) {
  ImageFolder raw;
  raw.File("a/1.jpg", "12345").File("a/2.jpg/3.jpg", "1").File("b/4", "1234");
  fs::create_symlink("1.jpg", raw / "a/5.jpg");
  fs::create_symlink("../b/4", raw / "a/6.jpg");
  fs::create_directory_symlink("../b", raw / "a/8.jpg");
  const FolderWalk walk = WalkFolder(raw.path());
  EXPECT_THAT(Names(walk),
              ElementsAre("a/1.jpg", "a/2.jpg/3.jpg", "a/5.jpg", "a/6.jpg"));
  for (const FolderEntry& image : walk.images) {
    EXPECT_EQ(image.bytes, fs::file_size(raw / image.name)) << image.name;
  }
  EXPECT_THAT(walk.ignored, UnorderedElementsAre("a/8.jpg/4", "b/4"));
}

TEST(FolderWalkTest, AnImageThatCannotBeReadIsNamed) {
  ImageFolder raw;
  raw.Jpeg("a/1.jpg");
  fs::create_symlink("gone", raw / "a/2.jpg");
  EXPECT_THAT(MessageOf<IoError>([&] { (void)WalkFolder(raw.path()); }),
              HasSubstr("a/2.jpg: cannot read: No such file or directory"));
  const FolderWalk walk = WalkFolder(raw.path(), UnreadableFiles::kTake);
  EXPECT_THAT(Names(walk), ElementsAre("a/1.jpg", "a/2.jpg"));
  EXPECT_EQ(walk.images.back().error, std::errc::no_such_file_or_directory);
}

// It may have been the folder of a class.
TEST(FolderWalkTest, ABrokenLinkIsNamed) {
  ImageFolder raw;
  raw.Jpeg("train/a/1.jpg");
  for (const char* const name : {"train/b", "val", "names.txt"}) {
    fs::create_symlink("gone", raw / name);
    for (const auto unreadable :
         {UnreadableFiles::kThrow, UnreadableFiles::kTake}) {
      EXPECT_THAT(
          MessageOf<IoError>([&] { (void)WalkFolder(raw.path(), unreadable); }),
          HasSubstr(raw / name +
                    ": cannot follow the link: No such file or directory"));
    }
    fs::remove(raw / name);
  }
}

TEST(FolderWalkTest, ManyWaysToAFolderAreOne) {
  ImageFolder raw;
  raw.Jpeg("a/b/c/last/1.jpg");
  // Thirty levels with two links each to the next: a billion ways.
  for (int i = 0; i < 30; ++i) {
    const std::string level = raw / ("a/b/c/" + std::to_string(i));
    fs::create_directories(level);
    for (const char* link : {"x", "y"}) {
      fs::create_directory_symlink(
          i == 29 ? "../last" : "../" + std::to_string(i + 1),
          level + "/" + link);
    }
  }
  EXPECT_THAT(Names(WalkFolder(raw.path())), SizeIs(1));
}

TEST(FolderWalkTest, TwoSplitsMayLinkToOneFolder) {
  ImageFolder raw;
  raw.Jpeg("store/1.jpg").Folder("raw/train").Folder("raw/val");
  for (const char* name : {"raw/train/cat", "raw/val/cat"}) {
    fs::create_directory_symlink(raw / "store", raw / name);
  }
  EXPECT_THAT(Names(WalkFolder(raw / "raw")),
              ElementsAre("train/cat/1.jpg", "val/cat/1.jpg"));
}

}  // namespace infeed::folder_walk_test
