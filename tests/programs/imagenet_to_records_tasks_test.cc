// A conversion that several processes share.

#include <filesystem>
#include <map>
#include <string>

#include "base/atomic_file.h"
#include "records/files/folder_claim.h"
#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed::imagenet_to_records_tasks_test {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxBytes = 1 << 26;

class TasksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    raw_.JpegsIn("train/cat", 9).JpegsIn("train/dog", 9);
    raw_.JpegsIn("val/cat", 4);
  }

  ProgramResult Run(const std::string& more) {
    return RunProgram("imagenet_to_records", "--raw_data_dir " + raw_.path() +
                                                 " --local_scratch_dir " +
                                                 out_.path() + " --shards 3 " +
                                                 more);
  }
  void RunTasks(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_THAT(Run("--num_tasks " + std::to_string(count) +
                      " --task_index " + std::to_string(i)),
                  Ends(0));
    }
  }
  [[nodiscard]] bool Has(const std::string& name) const {
    return fs::exists(out_ / name);
  }

  ImageFolder raw_;
  TemporaryFolder out_;
};

TEST_F(TasksTest, TasksGiveTheShardsOfOneProcess) {
  ASSERT_EQ(Run("").exit_code, 0);
  const std::map<std::string, std::string> expected = FilesIn(out_.path());
  for (const int count : {2, 7}) {
    fs::remove_all(out_.path());
    RunTasks(count);
    EXPECT_FALSE(Has("dataset.json"));
    ASSERT_THAT(
        Run("--finish"),
        Ends(0, ::testing::ContainsRegex("([0-9]+)/[0-9]+ shards checked")));
    EXPECT_EQ(FilesIn(out_.path()), expected);
  }
}

TEST_F(TasksTest, TasksRefuseAFolderOfAnotherConversion) {
  const std::string side = out_ / ".infeed";
  {
    const FolderClaim other(side, "lock", FolderClaim::Kind::kAlone);
    for (const std::string task : {"", "--num_tasks 2 --task_index 0"}) {
      EXPECT_THAT(Run(task),
                  Ends(2, HasSubstr("is writing to it: wait until it ends")))
          << task;
    }
  }
  {
    const FolderClaim other(side, "lock", FolderClaim::Kind::kShared);
    const FolderClaim task(side, "lock-1-of-2", FolderClaim::Kind::kAlone);
    EXPECT_EQ(Run("").exit_code, 2);
    EXPECT_EQ(Run("--num_tasks 2 --task_index 1").exit_code, 2);
    EXPECT_EQ(Run("--num_tasks 2 --task_index 0").exit_code, 0);
  }
  EXPECT_FALSE(Has(".infeed/lock"));
}

TEST_F(TasksTest, TasksKeepAFinishedSet) {
  RunTasks(2);
  ASSERT_EQ(Run("--finish").exit_code, 0);
  RunTasks(2);
  EXPECT_TRUE(Has("dataset.json"));
  fs::remove(out_ / "train-00001-of-00003");
  RunTasks(2);
  EXPECT_FALSE(Has("dataset.json"));
}

TEST_F(TasksTest, TasksWithMissingShardsAreNamed) {
  RunTasks(3);
  fs::remove(out_ / "train-00001-of-00003");
  fs::remove(out_ / ".infeed/validation-00002-of-00003.shard.json");
  const ProgramResult result = Run("--finish --num_tasks 3");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(
      result.err,
      AllOf(HasSubstr("2 of 6 shards are missing or do not match: "
                      "train-00001-of-00003 (task 1: it is missing); "
                      "validation-00002-of-00003 (task 2: it is not finished)"),
            HasSubstr("run again, of 3 tasks, 1, 2")));
  EXPECT_FALSE(Has("dataset.json"));
}

TEST_F(TasksTest, FinishingChecksEveryByteAndTheImages) {
  RunTasks(2);
  const std::string path = out_ / "train-00001-of-00003";
  std::string bytes = ReadWholeFile(path, kMaxBytes);
  bytes.back() ^= 1;
  WriteFileAtomically(path, bytes);
  EXPECT_THAT(Run("--finish"), Ends(1, AllOf(HasSubstr("its checksum is"),
                                             HasSubstr("without --finish"),
                                             Not(HasSubstr("task")))));
  raw_.Jpeg("train/cat/000.jpg");
  EXPECT_THAT(Run("--finish").err,
              HasSubstr("it was made from other images or by other flags"));
}

}  // namespace infeed::imagenet_to_records_tasks_test
