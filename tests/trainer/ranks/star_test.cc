#include "trainer/ranks/star.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/star_test.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using namespace std::chrono_literals;

class RankStarTest : public StarTest {};

std::string Joined(const std::vector<std::string>& messages) {
  std::string all;
  for (const std::string& message : messages) {
    all += message;
  }
  return all;
}

TEST_F(RankStarTest, ReducesByRankAgainAndAgain) {
  Run(4, [](Ranks& ranks) {
    const std::string mine = std::to_string(ranks.place().rank);
    for (int round = 0; round < 50; ++round) {
      EXPECT_EQ(ranks.Reduce(mine, Joined), "0123");
    }
  });
}

TEST_F(RankStarTest, CollectsAtRankZeroAlone) {
  Run(3, [](Ranks& ranks) {
    const std::vector<std::string> expected =
        ranks.place().is_first() ? std::vector<std::string>{"0", "1", "2"}
                                 : std::vector<std::string>();
    const std::string mine = std::to_string(ranks.place().rank);
    for (int round = 0; round < 50; ++round) {
      EXPECT_EQ(ranks.Collect(mine), expected);
      EXPECT_EQ(ranks.Reduce(mine, Joined), "012");
    }
  });
}

TEST_F(RankStarTest, AddsUpNumbersAndFindsTheMost) {
  Run(3, [](Ranks& ranks) {
    const double rank = ranks.place().rank;
    const std::vector<RankTotal> totals = ranks.Total({rank, -rank, 4});
    ASSERT_THAT(totals, SizeIs(3));
    EXPECT_EQ(totals[0].sum, 3);
    EXPECT_EQ(totals[0].most, 2);
    EXPECT_EQ(totals[0].rank, 2);
    EXPECT_EQ(totals[1].sum, -3);
    EXPECT_EQ(totals[1].most, 0);
    EXPECT_EQ(totals[1].rank, 0);
    EXPECT_EQ(totals[2].rank, 0) << "the first of those that are equal";
  });
}

// Rank 1 by hand.
TEST_F(RankStarTest, AnswersAreAsLongForAnyNumberOfRanks) {
  constexpr int kRanks = 6;
  std::vector<std::jthread> others;
  for (const int rank : {0, 2, 3, 4, 5}) {
    others.emplace_back([this, rank] {
      const auto ranks =
          MakeStar(StarPlace(rank, kRanks), Meet(rank, kRanks), {});
      (void)ranks->Total({1, 2});
    });
  }
  FrameStream link = std::move(Meet(1, kRanks).front());
  link.Put(FrameKind::kMessage, std::string(2 * sizeof(double), '\0'));
  std::optional<Frame> answer;
  do {
    answer = link.Await(FrameStream::Clock::now() + kLong);
    ASSERT_TRUE(answer.has_value());
  } while (answer->kind == FrameKind::kBeat);
  EXPECT_EQ(answer->kind, FrameKind::kAnswer);
  EXPECT_EQ(answer->body.size(), 2 * 3 * sizeof(double));
  link.Put(FrameKind::kBye);
  EXPECT_TRUE(link.Flush());
}

TEST_F(RankStarTest, RefusesAnotherNumberOfNumbers) {
  Run(2, [](Ranks& ranks) {
    if (ranks.place().is_first()) {
      const std::string message =
          MessageOf<IoError>([&] { (void)ranks.Total({1}); });
      EXPECT_THAT(message, HasSubstr("do all ranks run the same version?"));
      ranks.Fail(message);
    } else {
      EXPECT_THAT(MessageOf<IoError>([&] {
                    (void)ranks.Total({1, 2});
                  }),
                  HasSubstr("rank 0 failed: "));
    }
  });
}

TEST_F(RankStarTest, BroadcastsWhatRankZeroSays) {
  Run(3, [](Ranks& ranks) {
    const std::string mine(1 << 20,
                           static_cast<char>('a' + ranks.place().rank));
    EXPECT_EQ(ranks.Broadcast(mine), std::string(1 << 20, 'a'));
    EXPECT_EQ(ranks.Broadcast(""), "");
  });
}

// Ranks read each other's notes and their own, before and after these are left.
TEST_F(RankStarTest, ReadsTheNotesOfAllRanks) {
  Run(4, [](Ranks& ranks) {
    const auto key = [](int rank) { return "note/" + std::to_string(rank); };
    for (const bool late : {false, true}) {
      const int rank = ranks.place().rank;
      const std::string suffix = late ? "/late" : "";
      ranks.Post(key(rank) + suffix, std::string(rank, '\0'));
      for (int other = 0; other < 4; ++other) {
        EXPECT_EQ(ranks.Read(key(other) + suffix, kLong),
                  std::string(other, '\0'));
      }
      ranks.Barrier();
    }
  });
}

TEST_F(RankStarTest, DoesNotWaitForeverForANote) {
  Run(2, [](Ranks& ranks) {
    EXPECT_THAT(MessageOf<IoError>([&] { (void)ranks.Read("key", 10ms); }),
                HasSubstr("cannot join the other ranks: within 0.01 s none of "
                          "them has sent key"));
    ranks.Barrier();
  });
}

TEST_F(RankStarTest, DoesNotWaitForANoteOnceOneFailed) {
  Run(3, [](Ranks& ranks) {
    if (ranks.place().rank == 1) {
      ranks.Fail("no such file");
      return;
    }
    EXPECT_EQ(MessageOf<IoError>([&] { (void)ranks.Read("key", kLong); }),
              "rank 1 failed: no such file");
  });
}

TEST_F(RankStarTest, NumbersAndComparesWhatRanksDoTogether) {
  Run(3, [](Ranks& ranks) {
    EXPECT_EQ(ranks.NextPrefix("group"), "group/0/");
    EXPECT_EQ(ranks.NextPrefix("other"), "other/1/");
    EXPECT_FALSE(ranks.Any(false));
    EXPECT_TRUE(ranks.Any(ranks.place().rank == 2));
    ranks.RequireSame("number", "7");
    EXPECT_EQ(MessageOf<IoError>([&] {
                ranks.RequireSame("number",
                                  ranks.place().rank == 2 ? "8" : "7");
              }),
              "the number of rank 2 differ from those of rank 0");
  });
}

TEST_F(RankStarTest, TellsAllWhyOneFailed) {
  for (const int failed : {0, 1}) {
    Run(3, [failed](Ranks& ranks) {
      if (ranks.place().rank == failed) {
        ranks.Fail("no such file");
        return;
      }
      const std::string why =
          "rank " + std::to_string(failed) + " failed: no such file";
      EXPECT_EQ(MessageOf<IoError>([&] { ranks.Barrier(); }), why);
      EXPECT_EQ(ranks.EndReason(kLong), why);
    });
  }
}

TEST_F(RankStarTest, NamesARankThatLeftBeforeTheOthers) {
  Run(3, [](Ranks& ranks) {
    if (ranks.place().rank == 2) {
      return;
    }
    EXPECT_THAT(MessageOf<IoError>([&] { ranks.Barrier(); }),
                HasSubstr("rank 2 has ended before the others"));
  });
}

TEST_F(RankStarTest, NamesARankThatWasKilled) {
  for (const int rank : {0, 1}) {
    std::jthread killed([&] { (void)Meet(1 - rank, 2); });
    const auto ranks =
        MakeStar(StarPlace(rank, 2), Meet(rank, 2), {.timeout = kLong});
    EXPECT_THAT(MessageOf<IoError>([&] { ranks->Barrier(); }),
                HasSubstr("rank " + std::to_string(1 - rank) +
                          " ended without an error message"));
  }
}

TEST_F(RankStarTest, NamesARankThatIsSilent) {
  std::vector<FrameStream> silent;
  std::jthread joined([&] { silent = Meet(1, 2); });
  const auto ranks = MakeStar(StarPlace(0, 2), Meet(0, 2), {.timeout = 200ms});
  joined.join();
  EXPECT_THAT(MessageOf<IoError>([&] { ranks->Barrier(); }),
              HasSubstr("rank 1 has sent nothing for 0.2 s"));
}

TEST_F(RankStarTest, EndsAProcessThatDoesNotNotice) {
  std::atomic<bool> ended = false;
  std::string message;
  std::jthread killed([&] { (void)Meet(1, 2); });
  const auto ranks = MakeStar(StarPlace(0, 2), Meet(0, 2),
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
  EXPECT_THAT(message, HasSubstr("rank 1 ended without an error message"));
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
