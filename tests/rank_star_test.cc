#include "trainer/rank_star.h"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/throws.h"
#include "trainer/rank_meeting.h"

namespace infeed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kToken = "token";
constexpr std::chrono::milliseconds kLong = 60s;

RankPlace Place(int rank, int world_size) {
  RankPlace place;
  place.rank = rank;
  place.world_size = world_size;
  return place;
}

// Ranks as threads of this process, each with what it does.
class RankStarTest : public testing::Test {
 protected:
  using Rank = std::function<void(StarRanks& ranks)>;

  [[nodiscard]] std::vector<FrameStream> Meet(int rank, int world_size) const {
    if (rank == 0) {
      return AwaitRanks(listener_, world_size, kToken, kLong);
    }
    std::vector<FrameStream> links;
    links.push_back(
        MeetRankZero(Place(rank, world_size), listener_.port(), kToken, kLong));
    return links;
  }

  void Run(int world_size, const Rank& rank, StarOptions options = {}) const {
    if (!options.end_process) {
      options.end_process = [](const std::string& why) {
        ADD_FAILURE() << why;
      };
    }
    std::vector<std::jthread> threads;
    for (int i = 0; i < world_size; ++i) {
      threads.emplace_back([&, i] {
        StarRanks ranks(Place(i, world_size), Meet(i, world_size), options);
        rank(ranks);
      });
    }
  }

  RankListener listener_{true};
};

TEST_F(RankStarTest, GathersByRankAgainAndAgain) {
  Run(4, [](StarRanks& ranks) {
    const std::string mine = std::to_string(ranks.place().rank);
    for (int round = 0; round < 50; ++round) {
      EXPECT_THAT(ranks.Gather(mine), ElementsAre("0", "1", "2", "3"));
    }
  });
}

TEST_F(RankStarTest, CollectsAtRankZeroAlone) {
  Run(3, [](StarRanks& ranks) {
    const std::vector<std::string> expected =
        ranks.place().is_first() ? std::vector<std::string>{"0", "1", "2"}
                                 : std::vector<std::string>(3);
    const std::string mine = std::to_string(ranks.place().rank);
    for (int round = 0; round < 50; ++round) {
      EXPECT_EQ(ranks.Collect(mine), expected);
      EXPECT_THAT(ranks.Gather(mine), ElementsAre("0", "1", "2"));
    }
  });
}

TEST_F(RankStarTest, BroadcastsWhatRankZeroSays) {
  Run(3, [](StarRanks& ranks) {
    const std::string mine(1 << 20,
                           static_cast<char>('a' + ranks.place().rank));
    EXPECT_EQ(ranks.Broadcast(mine), std::string(1 << 20, 'a'));
    EXPECT_EQ(ranks.Broadcast(""), "");
  });
}

TEST_F(RankStarTest, KnowsWhetherAnyOfThemSaysYes) {
  Run(3, [](StarRanks& ranks) {
    EXPECT_FALSE(ranks.Any(false));
    EXPECT_TRUE(ranks.Any(ranks.place().rank == 2));
  });
}

TEST_F(RankStarTest, NamesARankThatDiffers) {
  Run(3, [](StarRanks& ranks) {
    ranks.RequireSame("number", "7");
    EXPECT_EQ(MessageOf<IoError>([&] {
                ranks.RequireSame("number",
                                  ranks.place().rank == 2 ? "8" : "7");
              }),
              "the number of rank 2 are not those of rank 0");
  });
}

TEST_F(RankStarTest, TellsAllWhyOneFailed) {
  Run(3, [](StarRanks& ranks) {
    if (ranks.place().rank == 1) {
      ranks.Fail("no such file");
      return;
    }
    EXPECT_EQ(MessageOf<IoError>([&] { (void)ranks.Gather("a"); }),
              "rank 1 failed: no such file");
    EXPECT_EQ(ranks.WhyOver(kLong), "rank 1 failed: no such file");
  });
}

TEST_F(RankStarTest, TellsAllWhyRankZeroFailed) {
  Run(3, [](StarRanks& ranks) {
    if (ranks.place().is_first()) {
      ranks.Fail("no checkpoint");
      return;
    }
    EXPECT_EQ(ranks.WhyOver(kLong), "rank 0 failed: no checkpoint");
    EXPECT_EQ(MessageOf<IoError>([&] { (void)ranks.Gather("a"); }),
              "rank 0 failed: no checkpoint");
  });
}

TEST_F(RankStarTest, NamesARankThatLeftBeforeTheOthers) {
  Run(3, [](StarRanks& ranks) {
    if (ranks.place().rank == 2) {
      return;
    }
    EXPECT_THAT(MessageOf<IoError>([&] { (void)ranks.Gather("a"); }),
                HasSubstr("rank 2 has ended before the others"));
  });
}

// A connection that closes, as a killed process leaves it; and one on which
// nothing comes any more, as of a process that was stopped.
TEST_F(RankStarTest, NamesARankThatWasKilled) {
  std::jthread killed([&] { (void)Meet(1, 2); });
  StarRanks ranks(Place(0, 2), Meet(0, 2), {.timeout = kLong});
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ranks.Gather("a"); }),
              HasSubstr("rank 1 ended without a word"));
}

TEST_F(RankStarTest, NamesRankZeroThatWasKilled) {
  std::jthread killed([&] { (void)Meet(0, 2); });
  StarRanks ranks(Place(1, 2), Meet(1, 2), {.timeout = kLong});
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ranks.Gather("a"); }),
              HasSubstr("rank 0 ended without a word"));
}

TEST_F(RankStarTest, NamesARankThatIsSilent) {
  std::vector<FrameStream> silent;
  std::jthread joined([&] { silent = Meet(1, 2); });
  StarRanks ranks(Place(0, 2), Meet(0, 2), {.timeout = 200ms});
  joined.join();
  EXPECT_THAT(MessageOf<IoError>([&] { (void)ranks.Gather("a"); }),
              HasSubstr("rank 1 has been silent for 0.2 s"));
}

TEST_F(RankStarTest, EndsAProcessThatDoesNotNotice) {
  std::atomic<bool> ended = false;
  std::string message;
  std::jthread killed([&] { (void)Meet(1, 2); });
  StarRanks ranks(Place(0, 2), Meet(0, 2),
                  {.timeout = 1s,
                   .patience = 10ms,
                   .end_process = [&](const std::string& why) {
                     if (!ended) {
                       message = why;
                       ended = true;
                       ended.notify_all();
                     }
                   }});
  ended.wait(false);
  EXPECT_THAT(message, HasSubstr("rank 1 ended without a word"));
}

TEST_F(RankStarTest, RefusesASecondProcessOfTheSameRank) {
  std::vector<std::string> messages(3);
  const auto join = [&](int index, int rank) {
    return [&, index, rank] {
      messages[static_cast<std::size_t>(index)] =
          MessageOf<IoError>([&] { (void)Meet(rank, 3); });
    };
  };
  {
    const std::jthread zero(join(0, 0));
    const std::jthread one(join(1, 1));
    const std::jthread again(join(2, 1));
  }
  for (const std::string& message : messages) {
    EXPECT_THAT(message, HasSubstr("two processes say that they are rank 1"));
  }
}

TEST_F(RankStarTest, NamesThoseWhoHaveNotCome) {
  std::string other;
  std::jthread one(
      [&] { other = MessageOf<IoError>([&] { (void)Meet(1, 4); }); });
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { (void)AwaitRanks(listener_, 4, kToken, 300ms); }),
              HasSubstr("ranks have not come within 0.3 s: rank"));
  one.join();
  EXPECT_THAT(
      other, testing::AnyOf(HasSubstr("have not come"), HasSubstr("it ended")));
}

TEST_F(RankStarTest, TakesNoStrangersForRanks) {
  const auto greet = [&](const std::string& hello) {
    FrameStream stranger(ConnectTo("127.0.0.1", listener_.port(), kLong));
    stranger.Put(FrameKind::kHello, hello);
    EXPECT_FALSE(stranger.Await(FrameStream::Clock::now() + kLong).has_value());
  };
  std::jthread zero([&] { (void)Meet(0, 2); });
  greet("other 1");
  greet("token 2");
  greet("token 0");
  greet("");
  (void)Meet(1, 2);
}

TEST(RankFramesTest, PackWhatTheyUnpack) {
  const std::vector<std::string> texts = {"", "a", std::string(70000, '\0')};
  EXPECT_EQ(UnpackTexts(PackTexts(texts)), texts);
  const std::string packed = PackTexts(texts);
  EXPECT_THAT(
      MessageOf<IoError>([&] { (void)UnpackTexts(packed.substr(0, 1000)); }),
      HasSubstr("cut off"));
}

}  // namespace
}  // namespace infeed
