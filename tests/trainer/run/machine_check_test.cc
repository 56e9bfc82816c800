#include "trainer/run/machine_check.h"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

// A machine, made of files under /proc and /sys.
class MachineCheckTest : public testing::Test {
 protected:
  MachineCheckTest() {
    Write("/proc/cpuinfo", "processor : 0\nmodel name\t: Test CPU\n");
    Write("/proc/meminfo", "MemTotal:       67108864 kB\n");
    Write("/sys/kernel/mm/transparent_hugepage/enabled",
          "always [madvise] never\n");
    std::filesystem::create_directories(root_ / "dev/shm");
  }

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  [[nodiscard]] Finding Find(const std::string& name) const {
    for (const Finding& finding : CheckMachine(root_.path())) {
      if (finding.name == name) {
        return finding;
      }
    }
    return {};
  }

  TemporaryFolder root_;
};

TEST_F(MachineCheckTest, NamesTheProcessorAndItsVectorCode) {
  EXPECT_THAT(Find("processor").value, HasSubstr("Test CPU, vector code for "));
}

TEST_F(MachineCheckTest, WarnsOfACoreQuota) {
  EXPECT_THAT(Find("cores").advice, IsEmpty());
  Write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n");  // older groups
  Write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(Find("cores").value, HasSubstr("0.2"));
  std::filesystem::remove_all(root_ / "sys/fs/cgroup/cpu");
  Write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_THAT(Find("cores").advice, IsEmpty());
  Write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_THAT(Find("cores").value,
              HasSubstr("limited to 0.5 by the control group"));
  EXPECT_THAT(Find("cores").advice, HasSubstr("--num_parallel_calls 1"));
}

TEST_F(MachineCheckTest, WarnsOfLittleMemory) {
  EXPECT_EQ(Find("memory").value, "64.0 GiB");
  EXPECT_THAT(Find("memory").advice, IsEmpty());
  Write("/proc/meminfo", "MemTotal:        4194304 kB\n");
  EXPECT_THAT(Find("memory").advice, HasSubstr("--memory_limit 25%"));
  Write("/proc/meminfo", "");
  EXPECT_EQ(Find("memory").value, "unknown");
}

TEST_F(MachineCheckTest, WarnsOfHugePagesThatAreOffAndOfNoSharedMemory) {
  EXPECT_THAT(Find("huge pages").advice, IsEmpty());
  Write("/sys/kernel/mm/transparent_hugepage/enabled",
        "always madvise [never]\n");
  EXPECT_THAT(Find("huge pages").advice, HasSubstr("echo madvise"));
  EXPECT_THAT(Find("/dev/shm").value, HasSubstr("iB free"));
  std::filesystem::remove(root_ / "dev/shm");
  EXPECT_EQ(Find("/dev/shm").value, "missing");
}

TEST_F(MachineCheckTest, WarnsOfTheReferenceBlasAndOfTwoRuntimes) {
  Write("/proc/self/maps",
        "7f00-7f01 r-xp 0 fe:00 1  /usr/lib/x86_64-linux-gnu/blas/"
        "libblas.so.3.11.0\n"
        "7f02-7f03 r-xp 0 fe:00 2  /usr/lib/libgomp.so.1\n"
        "7f04-7f05 rw-p 0 00:00 0\n"
        "7f06-7f07 r-xp 0 fe:00 3  /opt/libiomp5.so\n");
  EXPECT_THAT(Find("linear algebra").advice, HasSubstr("libopenblas0"));
  EXPECT_EQ(Find("OpenMP").value, "/opt/libiomp5.so, /usr/lib/libgomp.so.1");
  EXPECT_THAT(Find("OpenMP").advice, HasSubstr("several runtimes"));
  Write("/proc/self/maps",
        "7f00-7f01 r-xp 0 fe:00 1  /usr/lib/openblas-pthread/libblas.so.3\n");
  EXPECT_THAT(Find("linear algebra").advice, IsEmpty());
}

TEST_F(MachineCheckTest, WarnsOfFewOpenFiles) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 256;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(Find("open files").value, "256");
  EXPECT_THAT(Find("open files").advice, HasSubstr("ulimit -n"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace infeed
