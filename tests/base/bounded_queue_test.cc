#include "base/bounded_queue.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(BoundedQueueTest, KeepsTheOrder) {
  BoundedQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(queue.Push(i));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(queue.Pop(), i);
  }
}

TEST(BoundedQueueTest, KeepsTheOrderWhileItGrowsAndGoesRound) {
  BoundedQueue<std::string> queue(5);
  int pushed = 0;
  int popped = 0;
  for (const int fill : {1, 3, 2, 5, 4, 5, 0, 5}) {
    for (; pushed - popped < fill; ++pushed) {
      EXPECT_TRUE(queue.Push(std::to_string(pushed)));
    }
    EXPECT_EQ(queue.size(), static_cast<std::size_t>(pushed - popped));
    for (; pushed - popped > fill / 2; ++popped) {
      EXPECT_EQ(queue.Pop(), std::to_string(popped));
    }
  }
}

TEST(BoundedQueueTest, HandsOutWhatIsLeftAfterClose) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  queue.Close();
  EXPECT_FALSE(queue.Push(2));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueueTest, RethrowsTheErrorAfterTheLastGoodItem) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  queue.Close(std::make_exception_ptr(std::runtime_error("broken")));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_THROW((void)queue.Pop(), std::runtime_error);
  EXPECT_THROW((void)queue.Pop(), std::runtime_error);
}

TEST(BoundedQueueTest, KeepsTheFirstReasonForClosing) {
  BoundedQueue<int> queue(1);
  queue.Close();
  queue.Close(std::make_exception_ptr(std::runtime_error("late")));
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueueTest, TellsAnEmptyQueueFromAClosedOneAtTheDeadline) {
  using std::chrono::milliseconds;
  using Popped = std::optional<std::optional<int>>;
  BoundedQueue<int> queue(1);
  const Deadline deadline = std::chrono::steady_clock::now() + milliseconds(20);
  EXPECT_EQ(queue.PopUntil(deadline), Popped());
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  queue.Push(1);
  EXPECT_EQ(queue.PopUntil(deadline), Popped(1));
  EXPECT_EQ(queue.PopUntil(Deadline::min()), Popped());
  queue.Close(std::make_exception_ptr(std::runtime_error("broken")));
  EXPECT_THROW((void)queue.PopUntil(deadline), std::runtime_error);
}

TEST(BoundedQueueTest, APushBeforeTheDeadlineEndsTheWait) {
  BoundedQueue<int> queue(1);
  std::jthread producer([&] { queue.Push(1); });
  EXPECT_EQ(
      queue.PopUntil(std::chrono::steady_clock::now() + std::chrono::hours(1))
          .value(),
      1);
  queue.Close();
  EXPECT_EQ(queue.PopUntil(kNoDeadline).value(), std::nullopt);
}

TEST(BoundedQueueTest, CancelDropsTheItemsAndWakesAProducer) {
  BoundedQueue<std::string> queue(1);
  queue.Push("kept back");
  std::atomic<bool> accepted{true};
  std::jthread producer([&] { accepted = queue.Push("waits"); });
  queue.Cancel();
  producer.join();
  EXPECT_FALSE(accepted);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(BoundedQueueTest, PassesEveryItemOnceBetweenManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  BoundedQueue<int> queue(7);
  std::vector<std::atomic<int>> seen(kThreads * kEach);
  {
    std::vector<std::jthread> consumers;
    consumers.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      consumers.emplace_back([&] {
        while (const std::optional<int> item = queue.Pop()) {
          ++seen[static_cast<std::size_t>(*item)];
        }
      });
    }
    {
      std::vector<std::jthread> producers;
      producers.reserve(kThreads);
      for (int t = 0; t < kThreads; ++t) {
        producers.emplace_back([&queue, t] {
          for (int i = 0; i < kEach; ++i) {
            queue.Push(t * kEach + i);
          }
        });
      }
    }
    queue.Close();
  }
  for (const std::atomic<int>& count : seen) {
    EXPECT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace infeed
