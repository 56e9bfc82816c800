#include "base/own_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using ::testing::Property;

TEST(OwnFilesTest, MakesFoldersThatAreNoLinks) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "users");
  (void)MakeAndOpenFolder(folder / "users/a/b/", 2);
  EXPECT_TRUE(fs::is_directory(folder / "real/a/b"));
  fs::create_directory_symlink(folder / "real", folder / "real/a/link");
  for (const int own_names : {1, 2}) {
    EXPECT_THAT(
        [&] { (void)MakeAndOpenFolder(folder / "real/a/link", own_names); },
        Throws<IoError>(
            Property(&IoError::what, HasSubstr("a/link: is a symbolic link"))));
  }
  (void)OpenFolder(folder / "real/a/link", kNamedByUser);
  WriteFileAtomically(folder / "file", "");
  EXPECT_THROW((void)MakeAndOpenFolder(folder / "file", 1), IoError);
}

// A folder named "s3:" would be made.
TEST(OwnFilesTest, AreInNoStore) {
  for (const char* url : {"s3://KEY:SECRET@b/x", "gs:/b", "HTTPS://h/x"}) {
    for (const int own_names : {kNamedByUser, 1, 2}) {
      EXPECT_THROW(MakeFolder(url, "create", own_names), UsageError) << url;
    }
    EXPECT_THROW(AtomicFile(url, kNamedByUser), UsageError) << url;
  }
  EXPECT_THAT([] { RefuseUrl("s3:/KEY:SECRET@b", "--output"); },
              Throws<UsageError>(Property(
                  &UsageError::what, HasSubstr("--output s3:/b: is a URL"))));
  EXPECT_NO_THROW(RefuseUrl("./s3:/b"));
}

TEST(OwnFilesTest, OpensOnlyRegularFilesOfOneName) {
  const TemporaryFolder folder;
  EXPECT_GE(OpenOwnFile(folder / "log", 1).get(), 0);
  EXPECT_TRUE(fs::is_regular_file(folder / "log"));
  WriteFileAtomically(folder / "precious", "old");
  fs::create_symlink(folder / "precious", folder / "link");
  fs::create_symlink(folder / "made", folder / "dangling");
  fs::create_hard_link(folder / "precious", folder / "hard");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  fs::create_directory(folder / "folder");
  const auto refuses = [&](const char* name, const char* why) {
    EXPECT_THAT([&] { (void)OpenOwnFile(folder / name, 1); },
                Throws<IoError>(Property(&IoError::what, HasSubstr(why))));
  };
  refuses("link", "is a symbolic link");
  refuses("dangling", "is a symbolic link");
  refuses("hard", "a hard link");
  refuses("fifo", "is not a regular file");
  refuses("folder", "Is a directory");
  EXPECT_FALSE(fs::exists(folder / "made"));
}

}  // namespace
}  // namespace infeed
