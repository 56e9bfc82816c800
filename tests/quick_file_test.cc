#include "tools/quick_file.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

TEST(QuickFileTest, WritesTheFileAndNothingElse) {
  const TemporaryFolder folder;
  WriteFileQuickly(folder / "a", AsBytes("old and long"));
  WriteFileQuickly(folder / "a", AsBytes("new"));
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "new");
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(QuickFileTest, SaysWhatItCannotWrite) {
  const TemporaryFolder folder;
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { WriteFileQuickly(folder / "no/a", AsBytes("x")); }),
              HasSubstr("no/a.part: cannot create"));
  std::filesystem::create_directory(folder / "taken");
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { WriteFileQuickly(folder / "taken", AsBytes("x")); }),
              HasSubstr("taken: cannot write"));
  EXPECT_FALSE(std::filesystem::exists(folder / "taken.part"));
}

}  // namespace
}  // namespace infeed
