#include "trainer/checkpoint/checkpoint.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/made_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"
#include "trainer/checkpoint/save.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

Checkpoint At(std::int64_t step) { return MadeCheckpoint(step); }

void ExpectEqual(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.identity, b.identity);
  EXPECT_EQ(a.validation, b.validation);
  EXPECT_EQ(a.state.model, b.state.model);
  EXPECT_EQ(a.state.optimizer, b.state.optimizer);
}

// Writes a file in place, as damage does.
void Overwrite(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class CheckpointTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string& dir_ = folder_.path();

  void SaveAll(const std::vector<std::int64_t>& steps,
               const KeepOptions& keep = {.last = 5}) const {
    for (const std::int64_t step : steps) {
      SaveCheckpoint(dir_, At(step), keep);
    }
  }
  std::string FileOf(std::int64_t step, std::string_view name) const {
    return PathIn(CheckpointFolder(dir_, step), name);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  // The step of the newest whole checkpoint; -1 for none.
  std::int64_t NewestStep() {
    damaged_.clear();
    const auto newest = LoadNewestCheckpoint(dir_, damaged_);
    return newest ? newest->step : -1;
  }
  std::vector<std::string> damaged_;
};

TEST_F(CheckpointTest, LoadsWhatItSavedAndLeavesNothingElse) {
  EXPECT_EQ(SaveCheckpoint(dir_, At(42)), dir_ + "/checkpoint-00000042");
  ExpectEqual(LoadCheckpoint(dir_, 42), At(42));
  EXPECT_THAT(Names(), ElementsAre("checkpoint-00000042"));
}

TEST_F(CheckpointTest, MakesTheModelFolder) {
  EXPECT_THAT(ListCheckpoints(dir_ + "/a/b"), IsEmpty());
  std::vector<std::string> damaged;
  EXPECT_FALSE(LoadNewestCheckpoint(dir_ + "/a/b", damaged));
  EXPECT_THAT(damaged, IsEmpty());
  SaveCheckpoint(dir_ + "/a/b", At(1));
  EXPECT_THAT(ListCheckpoints(dir_ + "/a/b"), ElementsAre(1));
}

TEST_F(CheckpointTest, NeverDeletesTheOneItWroteForOlderDamagedOnes) {
  SaveAll({10, 20, 30});
  Overwrite(FileOf(20, kModelFile), "");
  Overwrite(FileOf(30, kModelFile), "");
  SaveCheckpoint(dir_, At(15), {.last = 1});
  EXPECT_EQ(NewestStep(), 15);
}

TEST_F(CheckpointTest, KeepsTheNewestMultiplesAndTheBest) {
  SaveAll({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {.last = 2, .every = 4, .best = 5});
  EXPECT_THAT(ListCheckpoints(dir_), ElementsAre(4, 5, 8, 9, 10));
  SaveCheckpoint(dir_, At(11), {.last = 1, .best = 9});
  EXPECT_THAT(Names(),
              ElementsAre("checkpoint-00000009", "checkpoint-00000011"));
}

TEST_F(CheckpointTest, FindsOneByItsOwnPathOrItsModelFolder) {
  SaveAll({1, 2});
  std::vector<std::string> damaged;
  ExpectEqual(*FindCheckpoint(CheckpointFolder(dir_, 1), damaged), At(1));
  ExpectEqual(*FindCheckpoint(dir_, damaged), At(2));
}

TEST_F(CheckpointTest, ReplacesOneOfTheSameStep) {
  SaveAll({7});
  Checkpoint other = At(7);
  other.stream.position = 1;
  SaveCheckpoint(dir_, other);
  ExpectEqual(LoadCheckpoint(dir_, 7), other);
  EXPECT_THAT(Names(), ElementsAre("checkpoint-00000007"));
}

// Whatever replaces a checkpoint's file or folder: the previous checkpoint is
// used, a message names the damaged one, and the step can be saved again.
TEST_F(CheckpointTest, UsesTheOneBeforeWhateverReplacedAFile) {
  const std::string other = dir_ + "/other";
  const std::vector<std::function<void(const std::string&)>> replacements = {
      [](const std::string& path) { fs::create_directory(path); },
      [](const std::string& path) { fs::create_symlink("nowhere", path); },
      [](const std::string& path) { fs::create_symlink(path, path); },
      [&](const std::string& path) { fs::create_symlink(dir_, path); },
      [&](const std::string& path) { fs::create_symlink(other, path); },
      [](const std::string& path) { ::mkfifo(path.c_str(), 0600); },
      [](const std::string& path) { fs::create_symlink("/dev/zero", path); },
      [](const std::string& path) { Overwrite(path, ""); },
      [](const std::string&) {}};
  Overwrite(other, "something else");
  for (const std::string_view name :
       {std::string_view(), kModelFile, kOptimizerFile, kStateFile,
        kManifestFile}) {
    for (std::size_t i = 0; i < replacements.size(); ++i) {
      SaveAll({7, 8});
      const std::string path =
          name.empty() ? CheckpointFolder(dir_, 8) : FileOf(8, name);
      fs::remove_all(path);
      replacements[i](path);
      EXPECT_EQ(NewestStep(), 7) << name << ", " << i;
      const bool is_gone = name.empty() && i + 1 == replacements.size();
      EXPECT_THAT(damaged_, testing::SizeIs(is_gone ? 0 : 1))
          << name << ", " << i;
    }
  }
  SaveCheckpoint(dir_, At(8), {.last = 5});
  EXPECT_EQ(NewestStep(), 8);
}

TEST_F(CheckpointTest, NoticesAFlippedByteAndATruncationAnywhere) {
  SaveAll({7, 8});
  for (const std::string_view name :
       {kModelFile, kOptimizerFile, kStateFile, kManifestFile}) {
    const std::string path = FileOf(8, name);
    const std::string whole = ReadWholeFile(path, 1 << 20);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      Overwrite(path, bytes);
      ASSERT_EQ(NewestStep(), 7) << name << " at " << i;
      ASSERT_THAT(damaged_, ElementsAre(HasSubstr(dir_)));
      Overwrite(path, whole.substr(0, i));
      ASSERT_EQ(NewestStep(), 7) << name << " cut to " << i;
    }
    Overwrite(path, whole);
  }
  EXPECT_EQ(NewestStep(), 8);
}

TEST_F(CheckpointTest, NamesTheDamagedFile) {
  for (const auto& [name, bytes, why] :
       {std::tuple(kStateFile, std::string("{}"),
                   "00000007/state.json: has 2 bytes, the manifest says "),
        {kManifestFile, std::string(100'000, ' '),
         "100000 bytes: not a manifest"}}) {
    SaveAll({7});
    Overwrite(FileOf(7, name), bytes);
    EXPECT_EQ(NewestStep(), -1);
    EXPECT_THAT(damaged_, ElementsAre(HasSubstr(why)));
  }
  SaveAll({7});
  fs::remove(FileOf(7, kModelFile));
  EXPECT_EQ(NewestStep(), -1);
  EXPECT_THAT(damaged_, ElementsAre(HasSubstr("safetensors: is missing")));
}

TEST_F(CheckpointTest, NoticesACheckpointUnderAnotherStepsName) {
  SaveAll({7});
  fs::rename(CheckpointFolder(dir_, 7), CheckpointFolder(dir_, 8));
  EXPECT_THAT(MessageOf<DataError>([&] { (void)LoadCheckpoint(dir_, 8); }),
              HasSubstr("holds the state of another step"));
}

TEST_F(CheckpointTest, ReadsTheStateWithoutTheTensors) {
  SaveAll({7});
  fs::remove(FileOf(7, kModelFile));
  const Checkpoint state = LoadRunState(dir_, 7);
  EXPECT_EQ(state.step, 7);
  EXPECT_EQ(state.stream, At(7).stream);
  EXPECT_EQ(state.identity, At(7).identity);
  EXPECT_TRUE(state.state.model.empty());
  Overwrite(FileOf(7, kStateFile), "{}");
  EXPECT_THROW((void)LoadRunState(dir_, 7), DataError);
}

TEST_F(CheckpointTest, NamesAFolderThatCannotBeMadeOrListed) {
  Overwrite(dir_ + "/file", "");
  EXPECT_THAT(
      MessageOf<IoError>([&] { SaveCheckpoint(dir_ + "/file/x", At(1)); }),
      HasSubstr("/file/x: cannot create: Not a directory"));
  EXPECT_THAT(
      MessageOf<IoError>([&] { (void)ListCheckpoints(dir_ + "/file"); }),
      HasSubstr("/file: cannot list: Not a directory"));
}

TEST_F(CheckpointTest, ReplacesAFileThatStandsInTheWay) {
  Overwrite(CheckpointFolder(dir_, 7), "a file, and no folder");
  SaveAll({7});
  ExpectEqual(LoadCheckpoint(dir_, 7), At(7));
}

TEST(RunIdentityTest, NamesEveryDifference) {
  const RunIdentity theirs = At(1).identity;
  EXPECT_EQ(DescribeDifferences(At(2).identity, theirs), "");
  RunIdentity ours = theirs;
  ours[3].value = "true";
  EXPECT_EQ(DescribeDifferences(ours, theirs),
            "scaled_decode is true, the checkpoint has false");
  ours[1].value = "1";
  EXPECT_EQ(DescribeDifferences(ours, theirs),
            "seed is 1, the checkpoint has 18446744073709551615; "
            "scaled_decode is true, the checkpoint has false");
  EXPECT_EQ(DescribeDifferences({{"brightness", "0.4000000059604645"}},
                                {{"brightness", "0.10000000149011612"}}),
            "brightness is 0.4, the checkpoint has 0.1");
}

TEST(RunIdentityTest, PassesOverFieldsOfAnotherVersion) {
  const RunIdentity theirs = At(1).identity;
  RunIdentity ours = theirs;
  ours.push_back({"new", "1"});
  EXPECT_EQ(DescribeDifferences(ours, theirs), "");
  EXPECT_EQ(DescribeDifferences(theirs, ours), "");
}

}  // namespace
}  // namespace infeed
