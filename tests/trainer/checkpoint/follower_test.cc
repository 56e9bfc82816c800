#include "trainer/checkpoint/follower.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <vector>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"
#include "trainer/results/model_dir.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// A model folder, and a clock that only waiting moves.
class CheckpointFollowerTest : public testing::Test {
 protected:
  void AddCheckpoint(std::int64_t step) const {
    const std::string folder = CheckpointFolder(folder_.path(), step);
    std::filesystem::create_directories(folder);
    WriteFileAtomically(PathIn(folder, kManifestFile), "");
  }

  // while_waiting is called with the number of each wait, from 1.
  CheckpointFollower Following(double seconds,
                               std::function<bool(int)> while_waiting) {
    return {folder_.path(),
            {.timeout_seconds = seconds,
             .wait =
                 [this, while_waiting](FollowOptions::Clock::duration time) {
                   waits_.push_back(time);
                   now_ += time;
                   return while_waiting(static_cast<int>(waits_.size()));
                 },
             .now = [this] { return now_; }}};
  }

  TemporaryFolder folder_;
  FollowOptions::Clock::time_point now_ = {};
  std::vector<FollowOptions::Clock::duration> waits_;
};

TEST_F(CheckpointFollowerTest, GivesTheNewestOnce) {
  AddCheckpoint(1);
  AddCheckpoint(3);
  CheckpointFollower follower = Following(0, [](int) { return true; });
  EXPECT_EQ(follower.Next(), 3);
  EXPECT_EQ(follower.Next(), std::nullopt);
  EXPECT_TRUE(waits_.empty());
}

TEST_F(CheckpointFollowerTest, WaitsForALaterOne) {
  AddCheckpoint(2);
  CheckpointFollower follower = Following(100, [this](int wait) {
    if (wait == 3) {
      AddCheckpoint(1);
      AddCheckpoint(5);
    }
    return true;
  });
  EXPECT_EQ(follower.Next(), 2);
  EXPECT_EQ(follower.Next(), 5);
  EXPECT_EQ(waits_.size(), 3U);
}

TEST_F(CheckpointFollowerTest, WaitsNoLongerThanItsTimeout) {
  CheckpointFollower follower = Following(2.5, [](int) { return true; });
  EXPECT_EQ(follower.Next(), std::nullopt);
  ASSERT_EQ(waits_.size(), 3U);
  EXPECT_EQ(waits_[0], std::chrono::seconds(1));
  EXPECT_EQ(waits_[2], std::chrono::milliseconds(500));
}

TEST(WaitUntilTest, ARequestToStopEndsTheWait) {
  std::stop_source source;
  const auto wait = WaitingUnlessStopped(source.get_token());
  EXPECT_TRUE(wait({}));
  source.request_stop();
  EXPECT_FALSE(wait(std::chrono::hours(1)));
}

TEST_F(CheckpointFollowerTest, EndsWhenItIsToldTo) {
  CheckpointFollower follower = Following(100, [](int) { return false; });
  EXPECT_EQ(follower.Next(), std::nullopt);
  EXPECT_EQ(waits_.size(), 1U);
}

}  // namespace
}  // namespace infeed
