// Writing verbs that cannot continue leave no output.

#include <signal.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "records/files/shards.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/run_program.h"
#include "tests/support/running_program.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr int kShards = 100;

// Many shards that cannot be packed, with a bad record first, so that a verb
// says something on stderr and then has a second's work.
class RecordsInterruptedTest : public ::testing::Test {
 protected:
  RecordsInterruptedTest() {
    fs::create_directories(in_);
    std::mt19937 random(1);
    RecordFile file;
    file.Add("bad").FlipByte(12);
    for (int record = 0; record < 100; ++record) {
      std::string payload(10'000, '\0');
      for (char& byte : payload) {
        byte = static_cast<char>(random());
      }
      file.Add(payload);
    }
    const std::string first = in_ + "/" + ShardName("train", 0, kShards);
    file.Write(first);
    for (int shard = 1; shard < kShards; ++shard) {
      fs::create_hard_link(first,
                           in_ + "/" + ShardName("train", shard, kShards));
    }
  }

  // Runs a verb, stops it at its first word, and returns how it ended.
  int Interrupt(const std::vector<std::string>& arguments, int signal) {
    RunningProgram program("records", arguments);
    EXPECT_TRUE(program.ReadUntil("left out: "));
    program.Signal(signal);
    const int code = program.Wait();
    EXPECT_THAT(program.err(), HasSubstr("stopped by a signal"));
    return code;
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_ / "in";
  const std::string out_ = folder_ / "out";
};

TEST_F(RecordsInterruptedTest, ASignalLeavesNothing) {
  const std::vector<std::string> reshard = {
      "reshard",       in_,    "--output", out_, "--on_bad_record", "skip",
      "--compression", "gzip", "--shards", "4"};
  EXPECT_EQ(Interrupt(reshard, SIGTERM), 75);
  EXPECT_TRUE(fs::is_empty(out_));
  const std::string file = out_ + "/all.gz";
  EXPECT_EQ(Interrupt({"merge", in_, "--output", file, "--on_bad_record",
                       "skip", "--compression", "gzip"},
                      SIGINT),
            75);
  EXPECT_TRUE(fs::is_empty(out_));
}

TEST_F(RecordsInterruptedTest, TheNextRunClearsWhatAKilledOneLeft) {
  {
    RunningProgram program(
        "records", {"merge", in_, "--output", out_ + "/all.gz",
                    "--on_bad_record", "skip", "--compression", "gzip"});
    EXPECT_TRUE(program.ReadUntil("left out: "));
    // Two at once do not get into each other's way.
    EXPECT_THAT(
        RunProgram("records", "merge " + in_ + " --output " + out_ + "/other"),
        Ends(2, HasSubstr("another run writes to this folder")));
  }  // Killed.
  EXPECT_TRUE(fs::exists(out_ + "/.infeed/tmp"));
  EXPECT_FALSE(fs::exists(out_ + "/all.gz"));
  const std::string one = in_ + "/" + ShardName("train", 0, kShards);
  EXPECT_EQ(RunProgram("records", "merge " + one +
                                      " --on_bad_record skip "
                                      "--output " +
                                      out_ + "/one")
                .exit_code,
            0);
  EXPECT_FALSE(fs::exists(out_ + "/.infeed/tmp"));
  EXPECT_TRUE(fs::exists(out_ + "/one"));
}

TEST_F(RecordsInterruptedTest, AFullDiskLeavesNothingAndTheSameCommandGoesOn) {
  const SmallDisk disk("1500k");
  if (!disk.error().empty()) {
    GTEST_SKIP() << "no tmpfs can be mounted: " << disk.error();
  }
  for (const std::string verb :
       {"reshard --on_bad_record skip --shards 2 ", "repair --frames_only "}) {
    const std::string output = disk.path() + "/" + verb.substr(0, 6);
    const std::string command =
        verb + "'" + in_ + "/train-0000[01]-*' --threads 1 --output " + output;
    EXPECT_THAT(RunProgram("records", command),
                Ends(1, HasSubstr("No space left on device")));
    EXPECT_TRUE(fs::is_empty(output)) << verb;
    disk.Grow("9m");
    EXPECT_THAT(RunProgram("records", command), Ends(0));
    fs::remove_all(output);
    disk.Grow("1500k");
  }
}

}  // namespace
}  // namespace infeed
