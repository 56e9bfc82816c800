#include "tools/train_resnet/local_ranks.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/support/argument_vector.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

std::vector<std::string> RankWords(std::vector<std::string> words) {
  ArgumentVector argv(std::move(words));
  return RankArguments(argv.argc(), argv.argv());
}

int Code(const std::vector<RankEnd>& ends) {
  return static_cast<int>(LauncherEnd(ends).code);
}

TEST(LocalRanksTest, RanksGetAllOtherArguments) {
  EXPECT_THAT(RankWords({"train", "--local_ranks", "2", "--seed", "1"}),
              ElementsAre("train", "--seed", "1"));
  EXPECT_THAT(RankWords({"train", "--local-ranks=2", "--local_rank", "0"}),
              ElementsAre("train", "--local_rank", "0"));
  EXPECT_THAT(RankWords({"train", "--local_ranks"}), ElementsAre("train"));
}

TEST(LocalRanksTest, TheLauncherEndsAsTheRanks) {
  EXPECT_EQ(Code({{.rank = 0}, {.rank = 1}}), 0);
  EXPECT_EQ(Code({{.rank = 1, .code = 75}, {.rank = 0, .code = 75}}), 75);
  EXPECT_EQ(Code({{.rank = 1, .code = 75}, {.rank = 0, .code = 1}}), 1);
  EXPECT_EQ(Code({{.rank = 1, .code = 130}, {.rank = 0, .code = 130}}), 130);
}

TEST(LocalRanksTest, TheFailedRankIsNamed) {
  EXPECT_EQ(
      LauncherEnd({{.rank = 1, .code = 3}, {.rank = 0, .code = 1}}).reason,
      "rank 1 ended with exit code 3; its reason is above");
  EXPECT_EQ(LauncherEnd({{.rank = 0, .signal = 9}}).reason,
            "rank 0 was ended by signal 9 (Killed)");
  EXPECT_EQ(
      LauncherEnd({{.rank = 0, .code = 75}, {.rank = 1, .code = 75}}).reason,
      "the ranks were stopped by a signal; run the same command again");
}

// The code 1 of the other ranks only follows from the first failure.
TEST(LocalRanksTest, TheFirstSpecificCodeCounts) {
  EXPECT_EQ(Code({{.rank = 1, .code = 1}, {.rank = 0, .code = 3}}), 3);
  EXPECT_EQ(Code({{.rank = 0, .code = 3}, {.rank = 1, .code = 2}}), 3);
  EXPECT_EQ(Code({{.rank = 0, .signal = 9}, {.rank = 1, .code = 1}}), 1);
}

}  // namespace
}  // namespace infeed
