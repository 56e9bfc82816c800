// Conversions that were killed, and the runs that continue them.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "base/atomic_file.h"
#include "tests/support/files_in.h"
#include "tests/support/image_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/run_program.h"
#include "tests/support/running_program.h"
#include "tests/support/temporary_folder.h"

namespace infeed::imagenet_to_records_restart_test {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxBytes = 1 << 26;

std::string Flags(const std::string& raw, const std::string& out) {
  return "--raw_data_dir " + raw + " --local_scratch_dir " + out +
         " --shards 12 --threads 2 ";
}

ProgramResult Convert(const std::string& raw, const std::string& out,
                      const std::string& more = "") {
  return RunProgram("imagenet_to_records", Flags(raw, out) + more);
}

std::vector<std::string> TemporaryFiles(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".tmp-") != std::string::npos) {
      names.push_back(name);
    }
  }
  return names;
}

fs::file_time_type TimeOf(const std::string& path) {
  return fs::last_write_time(path);
}

// Waits for a while of random length: the one thing here that is meant to be
// different each time on each machine.
void PassTime(std::mt19937& random, std::chrono::duration<double> longest) {
  std::this_thread::sleep_for(longest * (random() % 1000) / 1000);
}

class RestartTest : public ::testing::Test {
 protected:
  void SetUp() override {
    raw_.JpegsIn("cat", 60).JpegsIn("dog", 60);
    ASSERT_EQ(Convert(raw_.path(), whole_.path()).exit_code, 0);
    expected_ = FilesIn(whole_.path());
  }

  ImageFolder raw_;
  TemporaryFolder whole_;  // the result of an undisturbed run
  std::map<std::string, std::string> expected_;
};

// Inputs that lie in the output folder would be removed before they are read.
TEST_F(RestartTest, RefusesInputsInItsOutputFolder) {
  const TemporaryFolder links;
  const TemporaryFolder hard;
  for (const auto& [name, bytes] : expected_) {
    if (name.starts_with("train-")) {
      fs::create_symlink(whole_ / name, links / name);
      fs::create_hard_link(whole_ / name, hard / name);
    }
  }
  const std::string listed = whole_ / "train-00000-of-00012";
  for (const std::string& input :
       {whole_.path(),
        whole_ / "../" + fs::path(whole_.path()).filename().string(),
        links.path(), hard.path(), listed}) {
    for (const char* more : {"", " --overwrite --shards 7", " --dry_run"}) {
      EXPECT_THAT(Convert(input, whole_.path(), more), Ends(2))
          << input << more;
    }
  }
  EXPECT_EQ(FilesIn(whole_.path()), expected_);
}

TEST_F(RestartTest, RefusesAFolderOfTheImagesAsItsOutput) {
  ImageFolder raw;
  raw.JpegsIn("train/cat", 2).JpegsIn("val/cat", 2);
  ImageFolder more;
  more.JpegsIn("train/dog", 2).JpegsIn("val/dog", 2);
  for (const std::string& input :
       {raw.path(), more.path() + "," + raw.path()}) {
    for (const char* folder : {"", "train", "val/cat"}) {
      EXPECT_THAT(Convert(input, raw / folder),
                  Ends(2, HasSubstr("lies in this folder")))
          << input << " " << folder;
    }
  }
  EXPECT_FALSE(fs::exists(raw / "train/dataset.json"));
}

// A manifest finds its images wherever shards lie.
TEST_F(RestartTest, WithAManifestAFolderAboveImagesMayBeTheOutput) {
  ImageFolder raw;
  raw.JpegsIn("train/cat", 2);
  const TemporaryFolder tables;
  std::string table = "path,label\n";
  for (const auto& [name, bytes] : FilesBelow(raw.path())) {
    table += name + ",cat\n";
  }
  WriteFileAtomically(tables / "m.csv", table);
  const std::string manifest = "--manifest " + tables / "m.csv";
  for (const char* folder : {"", "train/cat"}) {
    EXPECT_THAT(Convert(raw.path(), raw / folder, manifest),
                Ends(2, HasSubstr("lies in this folder")))
        << folder;
  }
  for (const char* more : {"", " --overwrite"}) {
    EXPECT_THAT(Convert(raw.path(), raw / "train", manifest + more), Ends(0))
        << more;
  }
  EXPECT_EQ(FilesBelow(raw / "train/cat").size(), 2U);
}

// INFEED_KILLS=50 kills it that often.
TEST_F(RestartTest, LeavesNothingHalfWrittenWhenStopped) {
  const TemporaryFolder out;
  int code = 0;
  // A machine may be faster than the signal.
  for (int tries = 0; tries < 50 && code == 0; ++tries) {
    fs::remove_all(out.path());
    RunningProgram program("imagenet_to_records",
                           ShellWords(Flags(raw_.path(), out.path())));
    ASSERT_TRUE(program.ReadUntil("0.0 %")) << program.err();
    program.Signal(SIGINT);
    code = program.Wait();
    EXPECT_TRUE(code == 0 ||
                program.err().find("imagenet_to_records: stopped by a signal: "
                                   "finished shards are kept; run the same "
                                   "command again") != std::string::npos)
        << program.err();
  }
  EXPECT_EQ(code, 75);
  EXPECT_THAT(TemporaryFiles(out.path()), ::testing::IsEmpty());
  EXPECT_FALSE(fs::exists(out / "dataset.json"));
  EXPECT_EQ(Convert(raw_.path(), out.path()).exit_code, 0);
  EXPECT_EQ(FilesIn(out.path()), expected_);
}

TEST_F(RestartTest, GivesTheSameBytesAfterKills) {
  const char* const asked = std::getenv("INFEED_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 5;
  std::mt19937 random(11);
  const auto start = std::chrono::steady_clock::now();
  const TemporaryFolder timed;
  ASSERT_EQ(Convert(raw_.path(), timed.path()).exit_code, 0);
  const std::chrono::duration<double> longest =
      std::chrono::steady_clock::now() - start;

  auto out = std::make_unique<TemporaryFolder>();
  for (int killed = 0; killed < kills;) {
    RunningProgram program("imagenet_to_records",
                           ShellWords(Flags(raw_.path(), out->path())));
    PassTime(random, longest);
    program.Signal(SIGKILL);
    const int code = program.Wait();
    if (code == 128 + SIGKILL) {
      ++killed;
      continue;
    }
    ASSERT_EQ(code, 0) << program.err();  // It was faster: begin again.
    ASSERT_EQ(FilesIn(out->path()), expected_);
    out = std::make_unique<TemporaryFolder>();
  }
  EXPECT_THAT(Convert(raw_.path(), out->path()), Ends(0));
  EXPECT_EQ(FilesIn(out->path()), expected_);
  EXPECT_THAT(TemporaryFiles(out->path()), ::testing::IsEmpty());
}

TEST_F(RestartTest, KeepsFinishedShardsAndSaysSo) {
  const std::string kept = whole_ / "train-00003-of-00012";
  const fs::file_time_type before = TimeOf(kept);
  fs::remove(whole_ / "train-00005-of-00012");
  const std::string cut = whole_ / "train-00006-of-00012";
  fs::resize_file(cut, fs::file_size(cut) - 1);
  WriteFileAtomically(whole_ / ".infeed/train-00007-of-00012.shard.json", "{");
  EXPECT_THAT(Succeeded(Convert(raw_.path(), whole_.path())).out,
              HasSubstr("9 shards of an earlier run were kept"));
  EXPECT_EQ(TimeOf(kept), before);
  EXPECT_EQ(FilesIn(whole_.path()), expected_);
}

TEST_F(RestartTest, FindsChangedBytesWhenAsked) {
  const std::string path = whole_ / "train-00003-of-00012";
  std::string bytes = ReadWholeFile(path, kMaxBytes);
  bytes[bytes.size() / 2] ^= 1;
  WriteFileAtomically(path, bytes);
  EXPECT_THAT(Convert(raw_.path(), whole_.path()).out, HasSubstr("12 shards"));
  EXPECT_THAT(Convert(raw_.path(), whole_.path(), "--verify_resume").out,
              HasSubstr("11 shards of an earlier run were kept"));
  EXPECT_EQ(FilesIn(whole_.path()), expected_);
}

TEST_F(RestartTest, RemovesTemporaryFilesOfTheDeadOnly) {
  // No process has the highest number that there can be.
  const std::string dead = ".tmp-4194304";
  const std::string alive = ".tmp-" + std::to_string(::getpid());
  for (const std::string& name :
       {"train-00003-of-00012" + dead, "train-00003-of-00012" + alive,
        "train-00000-of-00099" + dead, "labels.txt" + dead,
        ".infeed/train-00003-of-00012.shard.json" + dead, "notes.txt" + dead}) {
    WriteFileAtomically(whole_ / name, "half");
  }
  ASSERT_EQ(Convert(raw_.path(), whole_.path()).exit_code, 0);
  EXPECT_THAT(TemporaryFiles(whole_.path()),
              ::testing::UnorderedElementsAre("train-00003-of-00012" + alive,
                                              "notes.txt" + dead));
}

}  // namespace infeed::imagenet_to_records_restart_test
