#include "trainer/feed/outfeed.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <vector>

#include "base/error.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(OutfeedTest, HandsResultsToTheSinkInOrder) {
  std::vector<StepResult> seen;
  Outfeed outfeed([&](const StepResult& result) { seen.push_back(result); });
  outfeed.Drain();  // Returns at once when nothing was put.
  EXPECT_TRUE(seen.empty());
  for (std::int64_t step = 1; step <= 5000; ++step) {
    outfeed.Put(
        {.step = step, .loss = 1.5F, .top_1 = 0.25F, .learning_rate = 0.1F});
  }
  outfeed.Drain();
  ASSERT_EQ(seen.size(), 5000U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i].step, static_cast<std::int64_t>(i) + 1);
  }
  EXPECT_EQ(seen[7].loss, 1.5F);
  EXPECT_EQ(seen[7].top_1, 0.25F);
  EXPECT_EQ(seen[7].learning_rate, 0.1F);
}

TEST(OutfeedTest, RunsTheSinkWhileTheLoopStillPuts) {
  std::promise<std::int64_t> first;
  Outfeed outfeed([&](const StepResult& result) {
    if (result.step == 1) {
      first.set_value(result.step);
    }
  });
  outfeed.Put({.step = 1});
  // Neither Drain() nor the destructor was needed for the sink to see it.
  EXPECT_EQ(first.get_future().get(), 1);
  outfeed.Put({.step = 2});
}

TEST(OutfeedTest, HandsOutWhatIsLeftWhenItIsDestroyed) {
  std::atomic<int> seen{0};
  {
    Outfeed outfeed([&](const StepResult&) { ++seen; });
    for (int i = 0; i < 100; ++i) {
      outfeed.Put({});
    }
  }
  EXPECT_EQ(seen, 100);
}

TEST(OutfeedTest, PassesOnWhatTheSinkThrows) {
  int calls = 0;
  Outfeed outfeed([&](const StepResult&) {
    ++calls;
    throw IoError("metrics.jsonl: no space");
  });
  outfeed.Put({});
  EXPECT_THROW(outfeed.Drain(), IoError);
  EXPECT_THROW(outfeed.Drain(), IoError);
  EXPECT_EQ(calls, 1);
}

TEST(OutfeedTest, APutThatWaitsForRoomFailsWithTheSink) {
  Outfeed outfeed([](const StepResult&) { throw IoError("gone"); });
  const auto put_for_ever = [&] {
    for (;;) {
      outfeed.Put({});
    }
  };
  EXPECT_THROW(put_for_ever(), IoError);
}

}  // namespace
}  // namespace infeed
