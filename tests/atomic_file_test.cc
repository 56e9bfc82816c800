#include "base/atomic_file.h"

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

std::ptrdiff_t FilesIn(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()),
                       fs::directory_iterator());
}

TEST(AtomicFileTest, AppearsOnlyOnCommit) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.Write(std::string_view("whole"));
  EXPECT_FALSE(fs::exists(folder / "a"));
  file.Commit();
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "whole");
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(AtomicFileTest, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "a");
    file.Write(std::string(3 << 20, 'x'));
  }
  EXPECT_EQ(FilesIn(folder), 0);
}

TEST(AtomicFileTest, KeepsTheOldFileWithoutCommit) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.Write(std::string_view("new"));
  }
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "old");
}

TEST(AtomicFileTest, CountsWhatIsStillBuffered) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.Write(std::string_view("12345"));
  EXPECT_EQ(file.size(), 5);
}

TEST(AtomicFileTest, SaysWhichFolderIsMissing) {
  EXPECT_THAT([] { AtomicFile file("/nonexistent/a"); },
              Throws<IoError>(Property(
                  &IoError::what,
                  HasSubstr("/nonexistent/a: cannot create: No such file"))));
}

TEST(AtomicFileTest, ReportsAFullDisk) {
  // Every write to /dev/full fails with ENOSPC, also through a symbolic link.
  const TemporaryFolder folder;
  fs::create_symlink("/dev/full",
                     folder / ("a.tmp-" + std::to_string(::getpid())));
  AtomicFile file(folder / "a");
  EXPECT_THAT(
      [&] { file.Write(std::string(2 << 20, 'x')); },
      Throws<IoError>(Property(&IoError::what, HasSubstr("No space left"))));
}

TEST(ReadWholeFileTest, RefusesAFileOverTheLimit) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "12345");
  EXPECT_THAT(
      [&] { (void)ReadWholeFile(folder / "a", 4); },
      Throws<IoError>(Property(&IoError::what, HasSubstr("limit of 4"))));
}

TEST(ReadWholeFileTest, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)ReadWholeFile(folder.path(), 4), IoError);
}

}  // namespace
}  // namespace infeed
