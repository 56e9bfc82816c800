#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"
#include "tools/convert/output_flags.h"

namespace infeed::task_share_test {

using Variables = std::map<std::string, std::string>;

TaskShare Parse(const std::string& index, const std::string& count,
                const Variables& variables = {}) {
  return ParseTaskShare(
      index, count, [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt
                                        : std::optional(found->second);
      });
}

std::string MessageFor(const std::string& index, const std::string& count,
                       const Variables& variables = {}) {
  return MessageOf<UsageError>([&] { (void)Parse(index, count, variables); });
}

// "INDEX/COUNT"
std::string Text(const TaskShare& share) {
  return std::to_string(share.index) + "/" + std::to_string(share.count);
}

const Variables kArray = {{"SLURM_ARRAY_TASK_ID", "5"},
                          {"SLURM_ARRAY_TASK_COUNT", "4"},
                          {"SLURM_ARRAY_TASK_MIN", "3"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_NTASKS", "1"}};

TEST(TaskShareTest, WithoutFlagsTheShareIsAll) {
  EXPECT_TRUE(Parse("", "", kArray).IsAll());
}

TEST(TaskShareTest, TakesEveryNthItem) {
  const TaskShare share = Parse("1", "3");
  EXPECT_FALSE(share.Has(0));
  EXPECT_TRUE(share.Has(1));
  EXPECT_TRUE(share.Has(4));
}

TEST(TaskShareTest, ReadsEverySchedulerWhenAsked) {
  EXPECT_EQ(Text(Parse("auto", "auto", kArray)), "2/4");
  EXPECT_EQ(Text(Parse("", "auto", kArray)), "2/4");
  EXPECT_EQ(Text(Parse("auto", "",
                       {{"SLURM_STEP_ID", "0"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_NTASKS", "2"}})),
            "1/2");
  EXPECT_EQ(Text(Parse("auto", "2",
                       {{"OMPI_COMM_WORLD_RANK", "0"},
                        {"OMPI_COMM_WORLD_SIZE", "2"}})),
            "0/2");
  EXPECT_EQ(Text(Parse("auto", "", {{"PMI_RANK", "6"}, {"PMI_SIZE", "7"}})),
            "6/7");
}

// The variables that a launcher set; see tests/data/launchers/README.md.
Variables SetBy(const std::string& launcher) {
  std::ifstream file(INFEED_TEST_DATA "/launchers/" + launcher + ".env");
  Variables variables;
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find('=');
    variables[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return variables;
}

TEST(TaskShareTest, ReadsWhatRealLaunchersSet) {
  EXPECT_EQ(Text(Parse("auto", "", SetBy("sbatch_array_script"))), "1/3");
  EXPECT_EQ(Text(Parse("auto", "", SetBy("srun"))), "3/4");
  EXPECT_EQ(Text(Parse("auto", "", SetBy("mpirun"))), "3/4");
  EXPECT_EQ(Text(Parse("auto", "", SetBy("mpirun_in_sbatch"))), "3/4");
  EXPECT_EQ(Text(Parse("auto", "", SetBy("mpirun_in_sbatch_first"))), "0/4");
}

TEST(TaskShareTest, TakesNoBatchScriptForOneOfManyTasks) {
  EXPECT_THAT(MessageFor("auto", "", SetBy("sbatch_script")),
              HasSubstr("give --task_index and --num_tasks as numbers"));
}

TEST(TaskShareTest, PrefersNumbersGiven) {
  EXPECT_EQ(Text(Parse("0", "9", kArray)), "0/9");
}

TEST(TaskShareTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(MessageFor("1", ""), HasSubstr("belong together"));
  EXPECT_THAT(MessageFor("", "4"), HasSubstr("belong together"));
  EXPECT_THAT(MessageFor("4", "4"), HasSubstr("task 4 of 4"));
  EXPECT_THAT(MessageFor("0", "0"), HasSubstr("at least 1"));
  EXPECT_THAT(MessageFor("-1", "4"), HasSubstr("--task_index -1"));
  EXPECT_THAT(MessageFor("0", "many"), HasSubstr("--num_tasks many"));
  EXPECT_THAT(MessageFor("auto", "auto"), HasSubstr("neither Slurm"));
  EXPECT_THAT(MessageFor("auto", "8", kArray),
              HasSubstr("--num_tasks 8: the scheduler's value is 4"));
  EXPECT_THAT(MessageFor("1", "auto", kArray),
              HasSubstr("--task_index 1: the scheduler's value is 2"));
  EXPECT_THAT(MessageFor("auto", "", {{"PMI_RANK", "6"}}),
              HasSubstr("PMI_SIZE is not set"));
  EXPECT_THAT(MessageFor("auto", "", {{"PMI_RANK", "x"}, {"PMI_SIZE", "7"}}),
              HasSubstr("PMI_RANK x"));
  EXPECT_THAT(MessageFor("auto", "", {{"PMI_RANK", "7"}, {"PMI_SIZE", "7"}}),
              HasSubstr("PMI_RANK gives task 7 of 7"));
}

TEST(TaskShareTest, LooksIntoTheProcessEnvironment) {
  const Environment environment = ProcessEnvironment();
  EXPECT_TRUE(environment("PATH"));
  EXPECT_FALSE(environment("INFEED_NO_SUCH_VARIABLE"));
}

}  // namespace infeed::task_share_test
