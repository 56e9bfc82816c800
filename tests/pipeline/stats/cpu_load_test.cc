#include "pipeline/stats/cpu_load.h"

#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

// A machine whose every core has been busy for so many ticks.
void WriteStat(const TemporaryFolder& root, int ticks) {
  std::filesystem::create_directories(root / "proc");
  std::ofstream file(root / "proc/stat");
  file << "cpu  1 1 1 1 1 1 1 1 0 0\n";
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    // user nice system idle iowait irq softirq steal
    file << "cpu" << core << " " << ticks - 6 << " 1 2 1000 500 1 1 1 0 0\n";
  }
  file << "ctxt 1\n";
}

TEST(CpuLoadTest, ReadsTheTimesOfTheCoresThatItMayUse) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const TemporaryFolder root;
  WriteStat(root, 600);
  const std::optional<CpuTimes> times = ReadCpuTimes(root.path());
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->cores, CPU_COUNT(&allowed));
  EXPECT_DOUBLE_EQ(times->busy, 600.0 / ::sysconf(_SC_CLK_TCK) * times->cores);
}

TEST(CpuLoadTest, TheLoadIsUnknownWithoutTheSystem) {
  const TemporaryFolder root;
  EXPECT_FALSE(ReadCpuTimes(root.path()).has_value());
}

TEST(CpuLoadTest, TheLoadIsWhatOthersUsed) {
  const CpuTimes before{.wall = 10, .busy = 100, .own = 5, .cores = 2};
  const CpuTimes after{.wall = 20, .busy = 119.5, .own = 9, .cores = 2};
  const CpuLoad load = LoadBetween(before, after, 6).value();
  EXPECT_DOUBLE_EQ(load.own, 0.6);
  EXPECT_DOUBLE_EQ(load.others, 1.35);
  EXPECT_EQ(load.Text(), "other programs use 1.4 of 2 cores");
  EXPECT_TRUE(load.is_too_high());
  EXPECT_FALSE(LoadBetween(before, before, 0).has_value());
}

TEST(CpuLoadTest, FreeCoresOrALittleLoadAreQuiet) {
  EXPECT_FALSE((CpuLoad{.own = 1, .others = 2, .cores = 4}).is_too_high());
  EXPECT_FALSE((CpuLoad{.own = 1.7, .others = 0.3, .cores = 2}).is_too_high());
  EXPECT_TRUE((CpuLoad{.own = 1, .others = 1, .cores = 2}).is_too_high());
}

}  // namespace
}  // namespace infeed
