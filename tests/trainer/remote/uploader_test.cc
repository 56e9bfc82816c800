#include "trainer/remote/uploader.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

// Lines that several threads may say.
class Lines {
 public:
  [[nodiscard]] std::function<void(const std::string&)> say() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(UploaderTest, FinishComesAfterARoundThatBeganLater) {
  std::atomic<int> there = 0;
  std::atomic<int> sent = 0;
  Lines said;
  Uploader uploader([&](const std::stop_token&) { sent = there.load(); },
                    {.period = hours(1), .say = said.say()});
  for (int i = 1; i <= 20; ++i) {
    there = i;
    ASSERT_TRUE(uploader.Finish(minutes(1)));
    ASSERT_EQ(sent, i);
  }
  EXPECT_THAT(said.lines(), IsEmpty());
}

TEST(UploaderTest, AStopEndsTheWait) {
  std::stop_source stop;
  Lines said;
  Uploader uploader(
      [&](const std::stop_token&) {
        stop.request_stop();
        throw IoError("no");
      },
      {.period = hours(1), .first_wait = hours(1), .say = said.say()});
  EXPECT_FALSE(uploader.Finish(hours(1), stop.get_token()));
}

TEST(UploaderTest, ComesByItselfEachPeriod) {
  std::promise<void> third;
  std::atomic<int> rounds = 0;
  const Uploader uploader(
      [&](const std::stop_token&) {
        if (++rounds == 3) {
          third.set_value();
        }
      },
      {.period = milliseconds(1), .say = [](const std::string&) {}});
  third.get_future().wait();
}

TEST(UploaderTest, TriesAgainAndSaysSoOnce) {
  std::atomic<int> rounds = 0;
  Lines said;
  Uploader uploader(
      [&](const std::stop_token&) {
        if (++rounds <= 5) {
          throw IoError("gs://bucket/x: cannot write");
        }
      },
      {.period = milliseconds(2),
       .first_wait = milliseconds(1),
       .say = said.say()});
  ASSERT_TRUE(uploader.Finish(minutes(1)));
  EXPECT_THAT(said.lines(),
              ElementsAre(AllOf(HasSubstr("an upload failed"),
                                HasSubstr("gs://bucket/x: cannot write")),
                          "uploads work again"));
}

TEST(UploaderTest, TheEndDoesNotWaitForAnotherTry) {
  std::promise<void> failed;
  std::atomic<int> rounds = 0;
  Uploader uploader(
      [&](const std::stop_token&) {
        if (++rounds == 1) {
          failed.set_value();
          throw IoError("gone");
        }
      },
      {.first_wait = hours(10), .say = [](const std::string&) {}});
  failed.get_future().wait();
  EXPECT_TRUE(uploader.Finish(minutes(5)));
  EXPECT_EQ(rounds, 2);
}

TEST(UploaderTest, WaitsNoLongerThanItIsTold) {
  Lines said;
  Uploader uploader([](const std::stop_token&) { throw IoError("gone"); },
                    {.period = milliseconds(2),
                     .first_wait = milliseconds(1),
                     .say = said.say()});
  EXPECT_FALSE(uploader.Finish(milliseconds(20)));
}

TEST(UploaderTest, ItsEndGivesUpTheRoundAtHand) {
  std::promise<void> begun;
  Lines said;
  {
    const Uploader uploader(
        [&](const std::stop_token& stop) {
          begun.set_value();
          while (!stop.stop_requested()) {
            std::this_thread::yield();
          }
          throw IoError("given up");
        },
        {.say = said.say()});
    begun.get_future().wait();
  }
  EXPECT_THAT(said.lines(), IsEmpty());
}

}  // namespace
}  // namespace infeed
