// Files of records as input, and tars as output.

#include <signal.h>

#include <cstdint>
#include <string>

#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/run_program.h"
#include "tests/support/running_program.h"
#include "tests/support/tar_file.h"

#include "gtest/gtest.h"

namespace infeed {
namespace imagenet_to_records_records_test {

// Four tars of 30 samples.
class RecordInputTest : public ::testing::Test {
 protected:
  RecordInputTest() {
    std::uint64_t seed = 0;
    for (const std::string shard : {"0", "1", "2", "3"}) {
      TarFile tar;
      for (int i = 10; i < 40; ++i) {
        const std::string key = "s" + std::to_string(i);
        tar.Add(key + ".jpg",
                TestJpeg({.width = 16, .height = 8, .seed = ++seed}));
        tar.Add(key + ".cls", std::to_string(i % 3));
      }
      raw_.File("tars/part-" + shard + ".tar", tar.End().text());
    }
  }

  [[nodiscard]] ProgramResult Convert(const std::string& input,
                                      const std::string& out,
                                      const std::string& more = "") const {
    return RunProgram("imagenet_to_records", "--raw_data_dir '" + input +
                                                 "' --local_scratch_dir " +
                                                 out + " " + more);
  }

  ImageFolder raw_;
};

TEST_F(RecordInputTest, GoesOnAfterAKill) {
  const std::string flags = "--format webdataset --shards 12 --threads 2";
  ASSERT_EQ(Convert(raw_ / "tars", raw_ / "whole", flags).exit_code, 0);
  RunningProgram program(
      "imagenet_to_records",
      {"--raw_data_dir", raw_ / "tars", "--local_scratch_dir", raw_ / "out",
       "--format", "webdataset", "--shards", "12", "--threads", "2"});
  ASSERT_TRUE(program.ReadUntil("0.0 %")) << program.err();
  program.Signal(SIGKILL);
  (void)program.Wait();
  const ProgramResult last = Convert(raw_ / "tars", raw_ / "out", flags);
  EXPECT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(FilesIn(raw_ / "out"), FilesIn(raw_ / "whole"));
  EXPECT_EQ(FilesIn(raw_ / "out").count("train-000011.tar"), 1U);
}

}  // namespace imagenet_to_records_records_test
}  // namespace infeed
