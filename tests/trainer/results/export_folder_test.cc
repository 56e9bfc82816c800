#include "trainer/results/export_folder.h"

#include <filesystem>
#include <set>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::set<std::string> NamesIn(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename());
  }
  return names;
}

class ExportFolderTest : public testing::Test {
 protected:
  // Returns the committed folder.
  std::string Export(const std::string& text) const {
    ExportFolder folder(exports_);
    WriteFileAtomically(folder.PathFor("model"), text);
    return folder.Commit(1'700'000'000);
  }

  TemporaryFolder parent_;
  std::string exports_ = parent_ / "a/b";
};

TEST_F(ExportFolderTest, AppearsUnderItsSecondOrTheNextThatIsFree) {
  const std::string first = Export("one");
  EXPECT_EQ(first, exports_ + "/1700000000");
  EXPECT_EQ(NamesIn(exports_), std::set<std::string>{"1700000000"});
  WriteFileAtomically(exports_ + "/1700000001", "a file");
  EXPECT_EQ(Export("two"), exports_ + "/1700000002");
  EXPECT_EQ(ReadWholeFile(first + "/model", 9), "one");
}

TEST_F(ExportFolderTest, LeavesNothingUnlessCommitted) {
  {
    ExportFolder folder(exports_);
    WriteFileAtomically(folder.PathFor("model"), "half");
    EXPECT_EQ(NamesIn(exports_).size(), 1U);
  }
  EXPECT_TRUE(NamesIn(exports_).empty());
}

TEST_F(ExportFolderTest, SaysThatItCannotBeMade) {
  WriteFileAtomically(parent_ / "a", "a file");
  EXPECT_THROW(ExportFolder{exports_}, IoError);
}

}  // namespace
}  // namespace infeed
