#include <filesystem>
#include <string>

#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

TEST(MakeSmallRecordsTest, WritesIntoNoFolderWithFiles) {
  const TemporaryFolder folder;
  const auto make = [&](const std::string& records) {
    return RunProgram(
        "make_small_records",
        "--output " + (folder / "made") + " --shards 2 --records " + records);
  };
  EXPECT_EQ(Succeeded(make("20")).out, "20 records in 2 shards\n");
  const std::string shard = folder / "made/train-00000-of-00002";
  const auto bytes = std::filesystem::file_size(shard);
  EXPECT_THAT(make("10"), Ends(2, HasSubstr("/made: is not empty")));
  EXPECT_EQ(std::filesystem::file_size(shard), bytes);
}

}  // namespace
}  // namespace infeed
