#include "tools/cli/flags.h"

#include <cstdint>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/program_end.h"
#include "tests/support/argument_vector.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tools/cli/number_checks.h"

namespace infeed {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

struct Flags {
  int max_shards = 0;
  std::string name;
};

// Parses a command line of a program called "tool".
bool Parse(std::vector<std::string> arguments, Flags& flags) {
  CLI::App app("A tool.");
  app.add_option("--max_shards", flags.max_shards, "shards");
  app.add_option("--name,name", flags.name, "name");
  arguments.insert(arguments.begin(), "bin/tool");
  ArgumentVector argv(std::move(arguments));
  return ParseFlags(app, argv.argc(), argv.argv());
}

// Runs a program that throws and returns its exit code and stderr.
template <typename Thrown>
std::pair<int, std::string> RunThrowing(const Thrown& error) {
  std::string name = "bin/tool";
  char* argv[] = {name.data()};
  CaptureStderr();
  const int code =
      RunMain(1, argv, [&](int, char**) -> ExitCode { throw error; });
  return {code, GetCapturedStderr()};
}

TEST(FlagsTest, AcceptsHyphensInNamesButKeepsThemInValues) {
  Flags flags;
  EXPECT_TRUE(Parse({"--max-shards=3", "--name", "a-b"}, flags));
  EXPECT_EQ(flags.max_shards, 3);
  EXPECT_EQ(flags.name, "a-b");
  EXPECT_TRUE(Parse({"--max_shards", "4", "--name=c-d"}, flags));
  EXPECT_EQ(flags.max_shards, 4);
  EXPECT_EQ(flags.name, "c-d");
}

TEST(FlagsTest, LeavesWhatFollowsTwoHyphensAlone) {
  Flags flags;
  EXPECT_TRUE(Parse({"--", "--a-file"}, flags));
  EXPECT_EQ(flags.name, "--a-file");
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  Flags flags;
  return MessageOf<UsageError>([&] { (void)Parse(arguments, flags); });
}

// CLI11 would take the second for the value of the first.
TEST(FlagsTest, DoNotTakeAFlagForAValue) {
  EXPECT_EQ(ErrorOf({"--name", "--max_shards", "3"}),
            "--name: its value is missing, the flag --max_shards comes next");
  EXPECT_EQ(ErrorOf({"--name", "--unknown"}),
            "--name: its value is missing, the flag --unknown comes next");
  Flags flags;
  EXPECT_TRUE(Parse({"--name=--max_shards", "--max_shards", "-3"}, flags));
  EXPECT_EQ(flags.name, "--max_shards");
  EXPECT_EQ(flags.max_shards, -3);
}

// Parses a command line of a program with switches and a verb.
std::string SwitchesOf(std::vector<std::string> words) {
  CLI::App app("A tool.");
  bool dry_run = false;
  bool verify = true;
  std::string mirror = "unset";
  std::string json;
  app.add_flag("--dry_run", dry_run, "");
  app.add_flag("--verify,!--no_verify", verify, "");
  app.add_option_function<std::string>(
         "--mirror", [&](const std::string& text) { mirror = text; })
      ->expected(0, 1)
      ->default_str("true");
  app.add_flag("--json", json, "")->option_text("[=FILE]");
  bool force = false;
  CLI::App* const list = app.add_subcommand("list", "");
  list->add_flag("--force", force, "");
  app.add_subcommand("count", "");
  words.insert(words.begin(), "bin/tool");
  ArgumentVector argv(std::move(words));
  try {
    (void)ParseFlags(app, argv.argc(), argv.argv());
  } catch (const UsageError& error) {
    return error.what();
  }
  return std::string(dry_run ? "dry " : "") + (verify ? "verify " : "") +
         mirror + (force ? " force" : "") + json;
}

TEST(FlagsTest, EverySwitchHasANoForm) {
  EXPECT_EQ(SwitchesOf({}), "verify unset");
  EXPECT_EQ(SwitchesOf({"--dry_run", "--mirror"}), "dry verify true");
  EXPECT_EQ(SwitchesOf({"--nodry_run", "--noverify", "--nomirror"}), "false");
  EXPECT_EQ(SwitchesOf({"--no-dry-run", "--no-verify", "--no-mirror"}),
            "false");
  EXPECT_EQ(SwitchesOf({"--no_dry_run", "--mirror=no"}), "verify no");
  EXPECT_EQ(SwitchesOf({"list", "--force", "--no-force"}), "verify unset");
}

TEST(FlagsTest, TheLastFormOfASwitchWins) {
  EXPECT_EQ(SwitchesOf({"--dry_run", "--nodry_run"}), "verify unset");
  EXPECT_EQ(SwitchesOf({"--nodry_run", "--dry_run"}), "dry verify unset");
  EXPECT_EQ(SwitchesOf({"--verify=false", "--verify"}), "verify unset");
}

TEST(FlagsTest, OnlySwitchesHaveANoForm) {
  EXPECT_EQ(SwitchesOf({"--nojson"}),
            "unknown flag '--nojson': did you mean '--json'?");
  EXPECT_EQ(SwitchesOf({"--nohelp"}),
            "unknown flag '--nohelp': did you mean '--help'?");
  EXPECT_THAT(ErrorOf({"--nomax_shards"}), HasSubstr("unknown flag"));
}

TEST(FlagsTest, NameTheVerbOrFlagThatWasMeant) {
  EXPECT_EQ(SwitchesOf({"lits"}), "unknown verb 'lits': did you mean 'list'?");
  EXPECT_EQ(SwitchesOf({"recs"}),
            "unknown verb 'recs': it is one of list, count");
  EXPECT_EQ(SwitchesOf({"list", "--forse"}),
            "unknown flag '--forse': did you mean '--force'?");
  EXPECT_EQ(SwitchesOf({"list", "--zzzzzz=1"}),
            "unknown flag '--zzzzzz': see tool list --help_all");
  EXPECT_EQ(ErrorOf({"--max_shards", "1", "a", "b"}),
            "'b': not a flag, nor the value of one (see tool --help)");
}

TEST(FlagsTest, TakeAnEmptyValue) {
  Flags flags;
  flags.name = "before";
  EXPECT_TRUE(Parse({"--name=", "--max_shards=3"}, flags));
  EXPECT_EQ(flags.name, "");
  EXPECT_EQ(flags.max_shards, 3);
}

TEST(FlagsTest, RefuseNumbersWithALeadingZero) {
  EXPECT_THAT(ErrorOf({"--max_shards=010"}),
              HasSubstr("--max_shards: 010 has a leading zero"));
  Flags flags;
  EXPECT_TRUE(Parse({"--name=010", "--max_shards=0x10"}, flags));
  EXPECT_EQ(flags.name, "010");
  EXPECT_EQ(flags.max_shards, 16);
}

TEST(FlagsTest, RefuseNumbersThatDoNotFit) {
  for (const auto& [given, why] :
       {std::pair("--seed=-1", "--seed: -1 is below 0"),
        {"--seed=18446744073709551616", "18446744073709551616 is too large"},
        {"--records=9223372036854775808",
         "9223372036854775808 is too large"}}) {
    CLI::App app("counts");
    std::uint64_t seed = 0;
    std::int64_t records = 0;
    app.add_option("--seed", seed);
    app.add_option("--records", records);
    ArgumentVector argv({"counts", given});
    EXPECT_THAT([&] { (void)ParseFlags(app, argv.argc(), argv.argv()); },
                ::testing::ThrowsMessage<UsageError>(HasSubstr(why)));
  }
}

TEST(FlagsTest, ThrowsWhatIsWrongAndWhereToLook) {
  Flags flags;
  EXPECT_THAT([&] { (void)Parse({"--max_shard=3"}, flags); },
              ::testing::ThrowsMessage<UsageError>(
                  "unknown flag '--max_shard': did you mean '--max_shards'?"));
  EXPECT_THAT([&] { (void)Parse({"--max_shards=x"}, flags); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("max_shards")));
}

TEST(FlagsTest, SaysInWordsWhatANumberMustBe) {
  EXPECT_EQ(PositiveNumber()("0"), "0 is not above 0");
  EXPECT_EQ(PositiveNumber()("ten"), "ten is not above 0");
  EXPECT_EQ(PositiveNumber()("0.5"), "");
  EXPECT_EQ(NonNegativeNumber()("-1"), "-1 is not a number from 0 on");
  EXPECT_EQ(NonNegativeNumber()("0"), "");
}

TEST(FlagsTest, AnswersHelpAndVersionOnStdout) {
  Flags flags;
  CaptureStdout();
  EXPECT_FALSE(Parse({"--help"}, flags));
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("--max_shards"));
  CaptureStdout();
  EXPECT_FALSE(Parse({"--version"}, flags));
  EXPECT_THAT(GetCapturedStdout(),
              MatchesRegex("tool \\(infeed\\) [0-9.]+, commit "
                           "([0-9a-f]{12}(-dirty)?|unknown)\n"));
}

TEST(RunMainTest, TurnsErrorsIntoALineAndAnExitCode) {
  using ::testing::Pair;
  using ::testing::StartsWith;
  EXPECT_THAT(RunThrowing(UsageError("bad flag")), Pair(2, "tool: bad flag\n"));
  EXPECT_THAT(RunThrowing(IoError("no disk")), Pair(1, "tool: no disk\n"));
  EXPECT_THAT(RunThrowing(DataError({"f", 1, 2}, "bad")),
              Pair(3, "tool: f: record 1 at byte 2: bad\n"));
  EXPECT_THAT(RunThrowing(std::runtime_error("other")),
              Pair(1, "tool: other\n"));
  EXPECT_THAT(RunThrowing(std::bad_alloc()),
              Pair(1, StartsWith("tool: out of memory: ")));
}

TEST(RunMainTest, PrintsWhyAProgramEnded) {
  CaptureStderr();
  EXPECT_EQ(RunMain(0, nullptr,
                    [](int, char**) {
                      return ProgramEnd(ExitCode::kStoppedBySignal, "a signal");
                    }),
            75);
  EXPECT_EQ(GetCapturedStderr(), "infeed: a signal\n");
}

TEST(RunMainTest, IsSilentAfterSuccess) {
  CaptureStderr();
  EXPECT_EQ(RunMain(0, nullptr, [](int, char**) { return ExitCode::kDone; }),
            0);
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(RunMainTest, FailsWhenResultsCannotBeWritten) {
  std::string name = "tool";
  char* argv[] = {name.data()};
  CaptureStderr();
  const int code = RunMain(1, argv, [](int, char**) {
    std::cout.setstate(std::ios::badbit);
    return ExitCode::kDone;
  });
  std::cout.clear();
  EXPECT_EQ(code, 1);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("cannot write the results"));
}

}  // namespace
}  // namespace infeed
