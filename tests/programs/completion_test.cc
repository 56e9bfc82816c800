// The completions that shells offer with the programs' completion scripts.

#include "tools/cli/completion.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tools/train_resnet/train_flags.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using Words = std::vector<std::string>;

struct CompletionCase {
  std::string line;  // the cursor stands at its end
  Words offered;     // names of parameters without their "="
};

const std::vector<CompletionCase>& Cases() {
  static const std::vector<CompletionCase> cases = {
      {"train_resnet --train_ba", {"--train_batch_size"}},
      {"train_resnet --recipe=t", {"torchvision", "tpu"}},
      {"train_resnet --preset x", {"x10_lenet", "xla_jl"}},
      {"train_resnet --pre_activation f", {"false"}},
      {"train_resnet --params_override=optimiz", {"optimizer"}},
      {"train_resnet --params_override=optimizer=l", {"lamb", "lars"}},
      {"train_resnet --params_override=seed=5,optimizer=l", {"lamb", "lars"}},
      {"train_resnet --params_override seed=5,optimiz", {"optimizer"}},
      {"imagenet_to_records --layout ", {"flat", "reference"}},
      {"imagenet_to_records --on_bad_image=re", {"reencode"}},
      {"make_demo_images --val", {"--validation"}},
      {"records ver", {"verify"}},
      {"records verify --dec", {"--decode"}},
      {"records reshard --compression g", {"gzip"}},
      {"records index --seek=r", {"rows"}},
      {"records split --pa", {"--parts"}},
  };
  return cases;
}

bool IsThere(const std::string& shell) {
  return std::system(("command -v " + shell + " >/dev/null").c_str()) == 0;
}

std::string ScriptOf(const std::string& program, const std::string& flag) {
  if (program != "train_resnet") {
    return RunProgram(program, flag).out;
  }
  // Without LibTorch.
  std::string name = program;
  std::string argument = flag;
  std::vector<char*> argv = {name.data(), argument.data()};
  testing::internal::CaptureStdout();
  EXPECT_FALSE(ReadTrainFlags(2, argv.data()).has_value());
  return testing::internal::GetCapturedStdout();
}

std::string ProgramOf(const std::string& line) {
  return line.substr(0, line.find(' '));
}

// The lines that a command prints, sorted: each up to a tab, without what
// stands before a value, or behind a parameter's name.
Words Offered(const std::string& command) {
  const TemporaryFolder folder;
  EXPECT_EQ(std::system(("cd " + folder.path() + " && (" + command + ") >" +
                         (folder / "out") + " </dev/null")
                            .c_str()),
            0);
  Words offered;
  std::istringstream lines(ReadWholeFile(folder / "out", 1 << 20));
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('\t'));
    line.erase(line.find_last_not_of("= ") + 1);
    offered.push_back(line.substr(line.find_last_of("=,") + 1));
  }
  std::ranges::sort(offered);
  return offered;
}

// Splits a line as bash does.
std::string BashWords(const std::string& line) {
  std::string words = "'";
  for (const char c : line) {
    words += c == ' '   ? std::string("' '")
             : c == '=' ? std::string("' = '")
                        : std::string(1, c);
  }
  words += "'";
  // Nothing stands between a "=" and the cursor.
  return words.ends_with("= ''") ? words.substr(0, words.size() - 3) : words;
}

TEST(CompletionTest, OffersTheSameInBash) {
  const TemporaryFolder folder;
  for (const CompletionCase& wanted : Cases()) {
    const std::string program = ProgramOf(wanted.line);
    WriteFileAtomically(folder / "commands",
                        ScriptOf(program, "--bash_completion") +
                            "\nCOMP_WORDS=(" + BashWords(wanted.line) +
                            ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_" +
                            program + "\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    EXPECT_EQ(Offered("bash " + (folder / "commands")), wanted.offered)
        << wanted.line;
  }
}

TEST(CompletionTest, OffersTheSameInZsh) {
  if (!IsThere("zsh")) {
    GTEST_SKIP() << "zsh is not installed";
  }
  const TemporaryFolder folder;
  for (const CompletionCase& wanted : Cases()) {
    const std::string program = ProgramOf(wanted.line);
    WriteFileAtomically(folder / ("_" + program),
                        ScriptOf(program, "--zsh_completion"));
    EXPECT_EQ(Offered("zsh -f " INFEED_TEST_DATA "/../support/complete.zsh " +
                      folder.path() + " '" + wanted.line + "'"),
              wanted.offered)
        << wanted.line;
  }
}

TEST(CompletionTest, OffersTheSameInFish) {
  if (!IsThere("fish")) {
    GTEST_SKIP() << "fish is not installed";
  }
  const TemporaryFolder folder;
  for (const CompletionCase& wanted : Cases()) {
    WriteFileAtomically(folder / "commands",
                        ScriptOf(ProgramOf(wanted.line), "--fish_completion") +
                            "\ncomplete -C '" + wanted.line + "'\n");
    EXPECT_EQ(Offered("HOME=" + folder.path() + " fish --no-config " +
                      (folder / "commands")),
              wanted.offered)
        << wanted.line;
  }
}

}  // namespace
}  // namespace infeed
