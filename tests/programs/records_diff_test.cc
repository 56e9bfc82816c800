#include <string>

#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::EndsWith;

class RecordsDiffTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string a_ = RecordFile().Add("x").Add("y").Write(folder_ / "a");
  const std::string b_ = RecordFile().Add("y").Add("x").Write(folder_ / "b");
};

TEST_F(RecordsDiffTest, EndsWithThreeWhenTheSetsDiffer) {
  const ProgramResult result = RunProgram("records", "diff " + a_ + " " + b_);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "records: the data sets differ\n");
  EXPECT_THAT(result.out, EndsWith("\n2 records in A, 2 in B, 2 differ\n"));
  EXPECT_EQ(
      RunProgram("records", "diff --unordered " + a_ + " " + b_).exit_code, 0);
}

TEST_F(RecordsDiffTest, WantsTwoSets) {
  EXPECT_EQ(RunProgram("records", "diff " + a_).exit_code, 2);
  EXPECT_EQ(RunProgram("records", "diff " + a_ + " /no/such").exit_code, 1);
}

}  // namespace
}  // namespace infeed
