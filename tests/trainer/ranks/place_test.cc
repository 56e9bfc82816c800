#include "trainer/ranks/place.h"

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using Values = std::map<std::string, std::string>;

Environment Of(const Values& values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// "rank/world local/local_world at address:port by source".
std::string Text(const RankPlace& place) {
  return std::to_string(place.rank) + "/" + std::to_string(place.world_size) +
         " " + std::to_string(place.local_rank) + "/" +
         std::to_string(place.local_world_size) + " at " + place.master_addr +
         " by " + place.source;
}

// The variables that a launcher set for a process: tests/data/launchers.
Values Launched(const std::string& name) {
  std::ifstream file(std::string(INFEED_TEST_DATA) + "/launchers/" + name +
                     ".env");
  Values values;
  for (std::string line; std::getline(file, line);) {
    const std::size_t sign = line.find('=');
    values[line.substr(0, sign)] = line.substr(sign + 1);
  }
  EXPECT_FALSE(values.empty()) << name;
  return values;
}

TEST(RankPlaceTest, LaunchersSayWhereTheRankStands) {
  for (const auto& [launcher, place] :
       Values{{"torchrun", "1/2 1/2 at localhost by torchrun"},
              {"torchrun_two_machines", "3/4 1/2 at 127.0.0.1 by torchrun"},
              {"mpirun", "3/4 3/4 at 127.0.0.1 by Open MPI"},
              {"srun", "3/4 1/2 at node1 by Slurm"},
              {"srun_without_script", "2/4 0/2 at node1 by Slurm"},
              {"mpirun_in_sbatch", "3/4 1/2 at node1 by Open MPI"},
              {"mpirun_in_sbatch_first", "0/4 0/2 at node1 by Open MPI"},
              {"sbatch_script", "0/1 0/1 at 127.0.0.1 by one process"},
              {"sbatch_array_script", "0/1 0/1 at 127.0.0.1 by one process"},
              {"salloc_shell", "0/1 0/1 at 127.0.0.1 by one process"}}) {
    EXPECT_EQ(Text(FindRank({}, Of(Launched(launcher)))), place) << launcher;
  }
}

TEST(RankPlaceTest, LeavesTheStoreOfTorchrunToIt) {
  EXPECT_TRUE(FindRank({}, Of(Launched("torchrun"))).store_is_served);
  const RankPlace by_hand =
      FindRank({}, Of({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
  EXPECT_FALSE(by_hand.store_is_served);
  Values again = Launched("torchrun");
  again["TORCHELASTIC_RESTART_COUNT"] = "2";
  EXPECT_EQ(FindRank({}, Of(again)).attempt, 2);
}

TEST(RankPlaceTest, TakesFlagsBeforeAllElse) {
  const RankPlace place =
      FindRank({.rank = 1, .world_size = 3}, Of(Launched("srun")));
  EXPECT_EQ(Text(place), "1/3 1/3 at 127.0.0.1 by flags");
  EXPECT_EQ(place.master_port, 29500);
  const RankPlace far = FindRank({.rank = 5,
                                  .world_size = 8,
                                  .local_rank = 1,
                                  .local_world_size = 4,
                                  .master_addr = "first",
                                  .master_port = 4000},
                                 Of({}));
  EXPECT_EQ(far.Describe(),
            "rank 5 of 8 (1 of 4 on this machine), by flags, rank 0 at "
            "first:4000");
  EXPECT_EQ(WorldSizeIn(far.Describe()), 8);
  EXPECT_EQ(WorldSizeIn(RankPlace().Describe()), 1);
}

TEST(RankPlaceTest, WithoutASourceThereIsOneProcess) {
  EXPECT_TRUE(FindRank({}, Of({})).is_alone());
  EXPECT_EQ(FindRank({}, Of({})).Describe(), "one process");
  EXPECT_TRUE(FindRank({}, Of({{"MASTER_ADDR", "somewhere"}})).is_alone());
}

TEST(RankPlaceTest, GivesEachJobAPortOfItsOwn) {
  Values job = Launched("srun");
  const int port = FindRank({}, Of(job)).master_port;
  job["SLURM_STEP_ID"] = "7";
  const int other = FindRank({}, Of(job)).master_port;
  EXPECT_NE(port, other);
  EXPECT_GE(port, 12000);
  EXPECT_LT(port, 32000);
  job["MASTER_PORT"] = "4711";
  job["MASTER_ADDR"] = "elsewhere";
  EXPECT_EQ(FindRank({}, Of(job)).master_port, 4711);
  EXPECT_EQ(FindRank({}, Of(job)).master_addr, "elsewhere");
  Values mpi = Launched("mpirun");
  mpi["PMIX_NAMESPACE"] = "3120365569";
  EXPECT_NE(FindRank({}, Of(mpi)).master_port, 29500);
}

// Ranks started by torchrun, or by hand, in the one task of a step.
TEST(RankPlaceTest, TakesRanksWithinATaskOfSlurms) {
  Values values = Launched("srun");
  values.merge(Launched("torchrun"));
  EXPECT_EQ(FindRank({}, Of(values)).source, "torchrun");
  EXPECT_EQ(Text(FindRank({}, Of({{"RANK", "1"},
                                  {"WORLD_SIZE", "2"},
                                  {"SLURM_STEP_ID", "0"},
                                  {"SLURM_PROCID", "0"},
                                  {"SLURM_NTASKS", "1"},
                                  {"SLURM_LOCALID", "0"},
                                  {"SLURM_NODEID", "0"},
                                  {"SLURM_STEP_TASKS_PER_NODE", "1"}}))),
            "1/2 1/2 at 127.0.0.1 by RANK");
}

// A launcher's variables (of tests/data/launchers; "": none), others that
// contradict them, and what the message says of both.
struct Contradiction {
  std::string launcher;
  Values more;
  std::vector<std::string> says;
};

TEST(RankPlaceTest, NamesBothOfAContradiction) {
  const std::vector<Contradiction> contradictions = {
      {"", {{"RANK", "0"}}, {"RANK is set, but WORLD_SIZE is"}},
      {"", {{"WORLD_SIZE", "2"}}, {"but RANK is not"}},
      {"",
       {{"RANK", "2"}, {"WORLD_SIZE", "2"}},
       {"RANK=2: must be less than WORLD_SIZE=2"}},
      {"",
       {{"RANK", "one"}, {"WORLD_SIZE", "2"}},
       {"RANK=one: must be a whole number"}},
      {"", {{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, {"RANK=-1"}},
      {"torchrun",
       {{"LOCAL_WORLD_SIZE", "3"}},
       {"LOCAL_WORLD_SIZE=3: more than WORLD_SIZE=2"}},
      {"torchrun",
       {{"LOCAL_RANK", "2"}},
       {"LOCAL_RANK=2", "LOCAL_WORLD_SIZE=2"}},
      {"torchrun", {{"RANK", "0"}}, {"LOCAL_RANK=1: more than RANK=0"}},
      {"",
       {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "0"}},
       {"LOCAL_RANK is set, but LOCAL_WORLD_SIZE is not"}},
      {"",
       {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "far"}},
       {"LOCAL_RANK and LOCAL_WORLD_SIZE are needed"}},
      {"torchrun", {{"MASTER_PORT", "70000"}}, {"MASTER_PORT=70000"}},
      {"srun",
       {{"RANK", "0"}, {"WORLD_SIZE", "4"}},
       {"RANK=0 contradicts SLURM_PROCID=3"}},
      {"mpirun",
       {{"RANK", "3"}, {"WORLD_SIZE", "8"}},
       {"WORLD_SIZE=8 contradicts OMPI_COMM_WORLD_SIZE=4"}},
      {"", {{"OMPI_COMM_WORLD_RANK", "0"}}, {"OMPI_COMM_WORLD_SIZE is not"}},
      {"mpirun",
       {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
       {"mpirun -x MASTER_ADDR=HOST"}},
      {"srun", {{"SLURM_STEP_NODELIST", "node["}}, {"'node['"}},
      {"srun", {{"SLURM_NODEID", "7"}}, {"SLURM_NODEID=7"}}};
  for (const auto& [launcher, more, says] : contradictions) {
    Values values = more;
    if (!launcher.empty()) {
      values.merge(Launched(launcher));
    }
    const std::string message =
        MessageOf<UsageError>([&] { (void)FindRank({}, Of(values)); });
    for (const std::string& part : says) {
      EXPECT_THAT(message, HasSubstr(part));
    }
  }
}

TEST(RankPlaceTest, RefusesHalfOfTheFlags) {
  const auto error = [](const RankFlags& flags) {
    return MessageOf<UsageError>([&] { (void)FindRank(flags, Of({})); });
  };
  EXPECT_THAT(error({.rank = 1}), HasSubstr("--rank and --world_size"));
  EXPECT_THAT(error({.master_addr = "a"}), HasSubstr("go with --rank"));
  EXPECT_THAT(error({.rank = 2, .world_size = 2}),
              HasSubstr("--rank=2: must be less than --world_size=2"));
  EXPECT_THAT(error({.rank = 0, .world_size = 2, .master_addr = "far"}),
              HasSubstr("--local_rank and --local_world_size are needed"));
}

// However the place is said; rank 0 alone is handed a socket.
TEST(RankPlaceTest, TakesTokenAndListenerFromTheEnvironment) {
  Values values = {{"INFEED_RANK_TOKEN", "secret of all"},
                   {"INFEED_RANK_LISTENER", "5"}};
  EXPECT_EQ(FindRank({}, Of(values)).token, "") << "one process";
  const RankPlace flags = FindRank({.rank = 0, .world_size = 2}, Of(values));
  EXPECT_EQ(flags.token, "secret of all");
  EXPECT_EQ(flags.listener, 5);
  values["RANK"] = "1";
  values["WORLD_SIZE"] = "2";
  const RankPlace one = FindRank({}, Of(values));
  EXPECT_EQ(one.token, "secret of all");
  EXPECT_EQ(one.listener, -1);
  EXPECT_THAT(one.Describe(), testing::Not(HasSubstr("secret")));
}

TEST(RankTokenTest, TokensDifferAndAreNotTooLong) {
  const std::string token = MakeRankToken();
  EXPECT_THAT(token, testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(token.size(), 64U);
  EXPECT_NE(MakeRankToken(), token);
  const Values values = {{"INFEED_RANK_TOKEN", std::string(257, 'x')}};
  EXPECT_EQ(MessageOf<UsageError>([&] {
              (void)FindRank({.rank = 0, .world_size = 2}, Of(values));
            }),
            "INFEED_RANK_TOKEN: must have at most 256 characters, has 257");
}

TEST(RankTokenTest, EveryCharacterIsCompared) {
  EXPECT_TRUE(IsSameToken("", ""));
  EXPECT_TRUE(IsSameToken("token", "token"));
  for (const char* other : {"", "t", "tokem", "Token", "token "}) {
    EXPECT_FALSE(IsSameToken("token", other)) << other;
    EXPECT_FALSE(IsSameToken(other, "token")) << other;
  }
}

TEST(SlurmListsTest, FindTheFirstHost) {
  EXPECT_EQ(FirstSlurmHost("node7"), "node7");
  EXPECT_EQ(FirstSlurmHost("a,b"), "a");
  EXPECT_EQ(FirstSlurmHost("node[01-03,7],other"), "node01");
  EXPECT_EQ(FirstSlurmHost("node[7,9]"), "node7");
  EXPECT_EQ(FirstSlurmHost("rack[2-3]-eth,other"), "rack2-eth");
  for (const std::string bad : {"", "[", "node[", "node[]", ",a"}) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)FirstSlurmHost(bad); }),
                HasSubstr("not a Slurm list of nodes"))
        << bad;
  }
}

TEST(SlurmListsTest, CountTheTasksOfNodes) {
  EXPECT_THAT(SlurmTasksOfNodes("4"), ElementsAre(4));
  EXPECT_THAT(SlurmTasksOfNodes("3,2(x4)"), ElementsAre(3, 2, 2, 2, 2));
  for (const std::string bad :
       {"", "x", "2(x", "2(x4", "2,", "2;3", "0", "1(x99999999)"}) {
    EXPECT_THAT(MessageOf<UsageError>([&] { (void)SlurmTasksOfNodes(bad); }),
                HasSubstr("not a Slurm list of tasks"))
        << bad;
  }
}

}  // namespace
}  // namespace infeed
