#include "pipeline/remote/worker_list_reader.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/matchers.h"

namespace infeed::worker_list_reader_test {

using std::chrono::milliseconds;

constexpr LinkTimes kOften = {.resolve = milliseconds(1),
                              .first_retry = milliseconds(1)};
constexpr LinkTimes kOnceAMinute = {.resolve = milliseconds(60'000),
                                    .first_retry = milliseconds(1)};

TEST(WorkerListReaderTest, ReadsAgainAndAgain) {
  std::atomic<int> readings{0};
  std::vector<std::string> last;
  {
    const WorkerListReader reader(WorkerList("b:1,a:1"), kOften,
                                  [&](std::vector<std::string> addresses,
                                      const std::vector<std::string>&) {
                                    last = std::move(addresses);
                                    ++readings;
                                    readings.notify_one();
                                  });
    for (int seen = 0; seen < 3; seen = readings) {
      readings.wait(seen);
    }
  }
  EXPECT_THAT(last, ElementsAre("a:1", "b:1"));
}

TEST(WorkerListReaderTest, ReadsSoonAgainWhatHasNoAddressYet) {
  std::atomic<int> asked{0};
  std::atomic<bool> is_known{false};
  WorkerList list("dns:///pool:1", [&](const std::string& /*name*/) {
    return ++asked < 3 ? std::vector<std::string>()
                       : std::vector<std::string>{"10.0.0.1"};
  });
  const WorkerListReader reader(std::move(list), kOnceAMinute,
                                [&](const std::vector<std::string>& addresses,
                                    const std::vector<std::string>&) {
                                  if (!addresses.empty()) {
                                    is_known = true;
                                    is_known.notify_one();
                                  }
                                });
  is_known.wait(false);
  EXPECT_EQ(asked, 3);
}

// The thread is left in the resolver, which must own what it uses.
TEST(WorkerListReaderTest, EndsWithoutWaitingForTheResolver) {
  struct Resolver {
    std::atomic<bool> is_asked{false};
    std::atomic<bool> may_answer{false};
  };
  const auto resolver = std::make_shared<Resolver>();
  const auto is_read = std::make_shared<std::atomic<bool>>(false);
  {
    WorkerList list("dns:///pool:1", [resolver](const std::string& /*name*/) {
      resolver->is_asked = true;
      resolver->is_asked.notify_one();
      resolver->may_answer.wait(false);
      return std::vector<std::string>{"10.0.0.1"};
    });
    const WorkerListReader reader(
        std::move(list), kOften,
        [is_read](const std::vector<std::string>& /*addresses*/,
                  const std::vector<std::string>& /*notes*/) {
          *is_read = true;
        });
    resolver->is_asked.wait(false);
  }
  resolver->may_answer = true;
  resolver->may_answer.notify_one();
  while (is_read.use_count() > 1) {  // The reader's, with its thread.
    std::this_thread::yield();
  }
  EXPECT_FALSE(*is_read);
}

}  // namespace infeed::worker_list_reader_test
