#include "tools/cli/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <semaphore>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using std::chrono::milliseconds;
using testing::ExitedWithCode;
using testing::KilledBySignal;

SignalLadder::Clock::time_point At(int time) {
  return SignalLadder::Clock::time_point(milliseconds(time));
}

TEST(SignalLadderTest, TheSecondEndsUnlessItIsTheFirstOnceMore) {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      SignalLadder ladder;
      EXPECT_EQ(ladder.Take(first, At(5000)), SignalAnswer::kStop);
      EXPECT_EQ(ladder.Take(second, At(5000)), SignalAnswer::kIgnore);
      EXPECT_EQ(ladder.Take(second, At(5999)), SignalAnswer::kIgnore);
      EXPECT_EQ(ladder.Take(second, At(6000)), SignalAnswer::kEnd);
    }
  }
}

TEST(SignalLadderTest, AWarningNeverEnds) {
  SignalLadder ladder;
  EXPECT_EQ(ladder.Take(SIGUSR1, At(0)), SignalAnswer::kStop);
  EXPECT_EQ(ladder.Take(SIGUSR1, At(9000)), SignalAnswer::kIgnore);
  // A batch system's SIGTERM after its warning is a first one.
  EXPECT_EQ(ladder.Take(SIGTERM, At(9000)), SignalAnswer::kStop);
  EXPECT_EQ(ladder.Take(SIGUSR1, At(99'000)), SignalAnswer::kIgnore);
  EXPECT_EQ(ladder.Take(SIGTERM, At(99'000)), SignalAnswer::kEnd);
}

// Sends itself three signals, each when the one before was taken, at these
// times.
[[noreturn]] void SendThree(int second_at, int third_at, int third) {
  std::counting_semaphore<> taken(0);
  int count = 0;
  const SignalStop signals("stopping soon", [&] {
    const int times[] = {0, second_at, third_at};
    const auto now = At(times[count++]);
    taken.release();
    return now;
  });
  for (const int signal : {SIGTERM, SIGINT, third}) {
    ::kill(::getpid(), signal);
    taken.acquire();
  }
  for (;;) {
    ::pause();  // Until the signal's thread ends the process.
  }
}

class SignalStopTest : public testing::Test {
 protected:
  SignalStopTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

// Ends the process with the code 75 once a signal has asked for a stop.
[[noreturn]] void EndAtAStop(const SignalStop& signals) {
  std::binary_semaphore stopped(0);
  const std::stop_callback callback(signals.token(),
                                    [&] { stopped.release(); });
  stopped.acquire();
  ::_exit(75);
}

TEST_F(SignalStopTest, ALaterSecondSignalEndsTheProcess) {
  EXPECT_EXIT(SendThree(200, 1200, SIGINT), ExitedWithCode(130),
              "^stopping soon\nflags_test: ended at once by a second signal "
              "\\(Interrupt\\)\n$");
  EXPECT_EXIT(SendThree(200, 1200, SIGTERM), ExitedWithCode(143),
              "second signal \\(Terminated\\)\n$");
}

TEST_F(SignalStopTest, TheFirstSignalAsksForAStop) {
  const auto stop_at_a_signal = [] {
    const SignalStop signals("stopping soon");
    ::kill(::getpid(), SIGTERM);
    EndAtAStop(signals);
  };
  EXPECT_EXIT(stop_at_a_signal(), ExitedWithCode(75), "^stopping soon\n$");
}

TEST_F(SignalStopTest, TakesASignalThatCameBefore) {
  const auto stop_at_once = [] {
    KeepSignals();
    ::kill(::getpid(), SIGTERM);
    const SignalStop signals("stopping soon");
    EndAtAStop(signals);
  };
  EXPECT_EXIT(stop_at_once(), ExitedWithCode(75), "^stopping soon\n$");
}

// A thread of a library does not block the signals.
TEST_F(SignalStopTest, TakesASignalFromAnyThread) {
  const auto signal_another_thread = [] {
    KeepSignals();
    std::binary_semaphore ended(0);
    std::jthread other([&] { ended.acquire(); });
    const SignalStop signals("stopping soon");
    ::pthread_kill(other.native_handle(), SIGTERM);
    EndAtAStop(signals);
  };
  EXPECT_EXIT(signal_another_thread(), ExitedWithCode(75), "^stopping soon\n$");
}

// As in a launcher, which passes signals on.
TEST_F(SignalStopTest, GivesAThreadThoseThatCameBeforeAndThoseOfOthers) {
  const auto take = [] {
    KeepSignals();
    ::kill(::getpid(), SIGUSR1);
    std::binary_semaphore ended(0);
    std::jthread other([&] { ended.acquire(); });
    TakeSignals();
    ::pthread_kill(other.native_handle(), SIGTERM);
    sigset_t set;
    sigfillset(&set);
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
      sum += ::sigwaitinfo(&set, nullptr);
    }
    ::_exit(sum == SIGUSR1 + SIGTERM ? 75 : 1);
  };
  EXPECT_EXIT(take(), ExitedWithCode(75), "");
}

// Before there is a SignalStop the process may hang in a library.
TEST_F(SignalStopTest, ASecondKeptSignalEndsTheProcess) {
  const auto hang = [] {
    KeepSignals();
    for (;;) {
      ::kill(::getpid(), SIGTERM);
    }
  };
  EXPECT_EXIT(hang(), ExitedWithCode(128 + SIGTERM), "");
}

TEST_F(SignalStopTest, ReleasedKeptSignalsEndTheProcess) {
  const auto keep_and_release = [] {
    KeepSignals();
    ::kill(::getpid(), SIGTERM);
    ReleaseSignals();
    ::_exit(1);
  };
  EXPECT_EXIT(keep_and_release(), KilledBySignal(SIGTERM), "");
}

TEST_F(SignalStopTest, ReleasedSignalsEndTheProcess) {
  const auto hold_and_release = [] {
    HoldSignals();
    ::kill(::getpid(), SIGTERM);
    ReleaseSignals();
    ::_exit(1);
  };
  EXPECT_EXIT(hold_and_release(), KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace infeed
