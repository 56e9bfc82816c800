#include "tools/input/metrics_file.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/made_stats.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class MetricsFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string Text() const {
    return ReadWholeFile(path_, 1 << 20);
  }
  [[nodiscard]] static std::string Expected() {
    return PrometheusText(BusyRun(), {{"run", "m"}});
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "infeed.prom";
};

TEST_F(MetricsFileTest, IsWrittenAtEachInterval) {
  MetricsFile metrics(path_, {{"run", "m"}}, milliseconds(1));
  const LiveStats::Shown shown(&metrics.live(), BusyRun);
  for (int time = 0; time < 2; ++time) {
    while (!std::filesystem::exists(path_)) {
      std::this_thread::yield();
    }
    EXPECT_EQ(Text(), Expected());
    std::filesystem::remove(path_);
  }
}

TEST_F(MetricsFileTest, HasTheLastRunAtTheEnd) {
  {
    MetricsFile metrics(path_, {{"run", "m"}}, hours(1));
    const LiveStats::Shown shown(&metrics.live(), BusyRun);
  }
  EXPECT_EQ(Text(), Expected());
}

// Half of the images are a worker's; then the device begins to wait.
PipelineStats AfterSeconds(int seconds, int without_wait) {
  PipelineStats stats;
  stats.elapsed_seconds = seconds;
  stats.batches = seconds;
  stats.images = std::int64_t{100} * seconds;
  stats.consumer_wait_seconds = 0.5 * std::max(0, seconds - without_wait);
  const std::int64_t half = stats.images / 2;
  stats.stages = {{"read", half, 0, 0, 0}, {"receive", half, 0, 0, 0}};
  stats.workers = {{.images = half, .open_seconds = 1.0 * seconds}};
  return stats;
}

TEST_F(MetricsFileTest, TheWorkersWantedAreOfTheLastIntervals) {
  {
    std::atomic<int> seconds{0};
    MetricsFile metrics(path_, {}, milliseconds(1));
    const LiveStats::Shown shown(&metrics.live(),
                                 [&] { return AfterSeconds(++seconds, 20); });
    while (seconds < 40) {
      std::this_thread::yield();
    }
  }
  // Of 200 images/s 50 are made here, 50 by one worker.
  EXPECT_THAT(Text(), HasSubstr("\ninfeed_workers_wanted 3\n"));
}

TEST_F(MetricsFileTest, TheWorkersWantedOfALaterRunAreItsOwn) {
  {
    MetricsFile metrics(path_, {}, milliseconds(1));
    for (const int without_wait : {0, 1'000'000}) {
      std::atomic<int> seconds{0};
      const LiveStats::Shown shown(&metrics.live(), [&] {
        return AfterSeconds(++seconds, without_wait);
      });
      while (seconds < 5) {
        std::this_thread::yield();
      }
    }
  }
  EXPECT_THAT(Text(), HasSubstr("\ninfeed_workers_wanted 1\n"));
}

TEST_F(MetricsFileTest, IsNotWrittenWithoutARun) {
  WriteFileAtomically(path_, "of the user");
  { const MetricsFile metrics(path_, {}, milliseconds(1)); }
  EXPECT_EQ(Text(), "of the user");
}

TEST_F(MetricsFileTest, NamesAFileThatCannotBeWritten) {
  EXPECT_THAT(MessageOf<IoError>([] {
                const MetricsFile metrics("/nowhere/infeed.prom", {});
              }),
              HasSubstr("/nowhere"));
}

TEST_F(MetricsFileTest, PrintsALaterFailureOnce) {
  testing::internal::CaptureStderr();
  {
    const std::string gone = folder_ / "gone";
    std::filesystem::create_directory(gone);
    MetricsFile metrics(gone + "/infeed.prom", {}, milliseconds(1));
    const LiveStats::Shown shown(&metrics.live(), BusyRun);
    std::filesystem::remove_all(gone);
    std::this_thread::sleep_for(milliseconds(20));
  }
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_THAT(printed, HasSubstr("metrics: "));
  EXPECT_EQ(printed.find("metrics: "), printed.rfind("metrics: "));
}

}  // namespace
}  // namespace infeed
