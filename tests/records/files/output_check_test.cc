#include "records/files/output_check.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace output_check_test {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class OutputCheckTest : public ::testing::Test {
 protected:
  OutputCheckTest() {
    fs::create_directories(folder_ / "data/train");
    for (const char* name : {"data/a", "data/dataset.json", "other"}) {
      WriteFileAtomically(folder_ / name, name);
    }
    fs::create_symlink("data/a", folder_ / "link");
    fs::create_hard_link(folder_ / "data/a", folder_ / "hard");
    fs::create_symlink("new", folder_ / "dangling");
    fs::create_directory_symlink("data", folder_ / "way");
  }

  // The message about these outputs; "" if they are fine.
  [[nodiscard]] std::string Check(const std::vector<std::string>& names) const {
    std::vector<NamedOutput> outputs;
    for (const std::string& name : names) {
      outputs.push_back(
          {"--flag" + std::to_string(outputs.size()),
           name.find('/') == 0 || name == "-" ? name : folder_ / name});
    }
    return MessageOf<UsageError>([&] {
      CheckOutputs(outputs, {folder_ / "data/a", "s3://b/a", ""});
    });
  }
  [[nodiscard]] std::string CheckFolder(const std::string& input) const {
    return MessageOf<UsageError>([&] {
      RefuseInputsIn({folder_ / "data", folder_ / "data/train"}, "--output",
                     {folder_ / input});
    });
  }

  const TemporaryFolder folder_;
};

TEST_F(OutputCheckTest, RefusesAnInputUnderAnyName) {
  for (const char* name : {"data/a", "data/../data/./a", "link", "hard",
                           "way/a", "way/dataset.json"}) {
    EXPECT_THAT(Check({name}),
                AllOf(HasSubstr("--flag0 "), HasSubstr("is the input")))
        << name;
  }
  EXPECT_EQ(MessageOf<UsageError>([&] {
              CheckOutputs({{"--page", "s3://b/a"}}, {"s3://b/c"});
            }),
            "");
  EXPECT_THAT(MessageOf<UsageError>([&] {
                CheckOutputs({{"--page", "s3://b/c"}}, {"s3://b/c"});
              }),
              HasSubstr("is the input s3://b/c"));
  EXPECT_EQ(Check({"other", "new", "data/b"}), "");
}

TEST_F(OutputCheckTest, RefusesTwoOutputsOfOneName) {
  EXPECT_THAT(Check({"new", "way/../new"}),
              HasSubstr("is also the file of --flag0"));
  EXPECT_THAT(Check({"dangling", "new"}),
              HasSubstr("is also the file of --flag0"));
  EXPECT_THAT(Check({"other", "other"}),
              HasSubstr("is also the file of --flag0"));
  EXPECT_EQ(Check({"/dev/null", "/dev/null", "-", "-"}), "");
}

TEST_F(OutputCheckTest, RefusesInputsInTheOutputFolder) {
  WriteFileAtomically(folder_ / "data/train/b", "b");
  for (const char* name : {"data", "data/a", "data/train/b", "way/a", "link"}) {
    EXPECT_THAT(CheckFolder(name), HasSubstr("lies in this folder")) << name;
  }
  fs::create_directories(folder_ / "data/raw/cat");
  for (const char* name : {"other", "data/raw/cat", "data/raw/cat/1.jpg"}) {
    EXPECT_EQ(CheckFolder(name), "") << name;
  }
}

}  // namespace output_check_test
}  // namespace infeed
