#include "bench/common/cpu_counters.h"

#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <thread>

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr double kWork = 0.03;
// Clocks of the kernel's accounting and of the thread may differ by a tick.
constexpr double kTick = 0.01;

// Works until the calling thread has had so much of a core.
void Work(double seconds) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) +
           1e-9 * static_cast<double>(time.tv_nsec);
  };
  for (const double end = now() + seconds; now() < end;) {
  }
}

TEST(CpuCountersTest, BeginsAtNothing) {
  Work(kWork);
  const CpuCounters counters;
  EXPECT_LT(counters.Read().seconds, kWork);
}

TEST(CpuCountersTest, CountsTheTimeOfThreads) {
  const CpuCounters counters;
  std::jthread([] { Work(kWork); }).join();
  Work(kWork);
  EXPECT_GE(counters.Read().seconds, 2 * kWork - kTick);
}

TEST(CpuCountersTest, CountsTheTimeOfChildren) {
  const CpuCounters counters;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Work(kWork);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_GE(counters.Read().seconds, kWork - kTick);
}

TEST(CpuCountersTest, CountsInstructionsOfThreadsWhereTheMachineDoes) {
  const CpuCounters counters;
  if (!counters.Read().instructions) {
    GTEST_SKIP() << "this machine shows no counter of instructions";
  }
  std::jthread([] { Work(kWork); }).join();
  EXPECT_GT(*counters.Read().instructions, 100'000);
}

}  // namespace
}  // namespace infeed
