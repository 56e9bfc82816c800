#include "records/bytes/append_file.h"

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

TEST(AppendFileTest, AppendsToWhatIsThereAndMakesItsFolder) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a/b/log";
  AppendFile(path).Append("one ");
  AppendFile(path).Append("two");
  EXPECT_EQ(ReadWholeFile(path, 100), "one two");
}

TEST(AppendFileTest, KnowsItsLastByte) {
  const TemporaryFolder folder;
  AppendFile file(folder.path() + "/log");
  EXPECT_TRUE(file.EndsWith('\n'));
  file.Append("half a line");
  EXPECT_FALSE(file.EndsWith('\n'));
  file.Append("\n");
  EXPECT_TRUE(file.EndsWith('\n'));
}

TEST(AppendFileTest, NamesWhatCannotBeOpenedOrMade) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() + "/file", "");
  EXPECT_THAT(MessageOf<IoError>([&] { const AppendFile file(folder.path()); }),
              HasSubstr(folder.path() + ": cannot open: Is a directory"));
  EXPECT_THAT(MessageOf<IoError>([&] {
                const AppendFile file(folder.path() + "/file/x/log");
              }),
              HasSubstr("/file/x: cannot create: Not a directory"));
  EXPECT_THAT(MessageOf<IoError>([&] {
                const AppendFile file(folder.path() + "/a/log", kNamedByUser);
              }),
              HasSubstr("there is no folder " + folder.path() + "/a"));
}

TEST(AppendFileTest, AppendsThroughNoLink) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() + "/precious", "old");
  std::filesystem::create_symlink("precious", folder.path() + "/link");
  std::filesystem::create_directory_symlink(".", folder.path() + "/eval");
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { const AppendFile file(folder.path() + "/link"); }),
              HasSubstr("/link: is a symbolic link"));
  EXPECT_THAT(MessageOf<IoError>([&] {
                const AppendFile file(folder.path() + "/eval/log",
                                      kInOwnFolder);
              }),
              HasSubstr("/eval: is a symbolic link"));
  AppendFile(folder.path() + "/link", kNamedByUser).Append(" new");
  EXPECT_EQ(ReadWholeFile(folder.path() + "/precious", 100), "old new");
}

TEST(AppendFileTest, NamesADeviceThatIsFull) {
  AppendFile file("/dev/full", kNamedByUser);
  EXPECT_THAT(MessageOf<IoError>([&] { file.Append("x"); }),
              HasSubstr("/dev/full: cannot write: No space left on device"));
}

}  // namespace
}  // namespace infeed
