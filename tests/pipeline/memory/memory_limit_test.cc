#include "pipeline/memory/memory_limit.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace infeed {
namespace {

// A machine whose files show 1000 KiB of memory.
class MemoryLimitTest : public ::testing::Test {
 protected:
  MemoryLimitTest() {
    Write("/proc/meminfo", "HugePages_Total: 0\nMemTotal:  1000 kB\n");
  }
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] const std::string& root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST(PeakRssBytesTest, ThePeakIncludesTouchedPages) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::vector<char> memory(kBytes, 'x');
  EXPECT_EQ(memory.back(), 'x');
  EXPECT_GE(PeakRssBytes(), static_cast<std::int64_t>(kBytes));
}

TEST_F(MemoryLimitTest, TheLowestLimitOfTheGroupAndThoseAboveHolds) {
  EXPECT_EQ(MachineMemory(root()), 1000 << 10);  // There is no group.
  Write("/proc/self/cgroup", "0::/a/b\n");
  Write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(MachineMemory(root()), 1000 << 10);
  Write("/sys/fs/cgroup/a/memory.max", "5000\n");
  EXPECT_EQ(MachineMemory(root()), 5000);
  Write("/sys/fs/cgroup/a/b/memory.max", "4000\n");
  EXPECT_EQ(MachineMemory(root()), 4000);
  Write("/sys/fs/cgroup/memory.max", "3000\n");  // A container's own.
  EXPECT_EQ(MachineMemory(root()), 3000);
}

TEST_F(MemoryLimitTest, AvailableIsWhatTheMachineAndItsGroupsHaveLeft) {
  EXPECT_THAT([&] { (void)AvailableMemory(root()); },
              ThrowsMessage<IoError>(HasSubstr("/proc/meminfo")));
  Write("/proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:  600 kB\n");
  EXPECT_EQ(AvailableMemory(root()), 600 << 10);
  Write("/proc/self/cgroup", "0::/a\n");
  Write("/sys/fs/cgroup/a/memory.max", "9000\n");
  Write("/sys/fs/cgroup/a/memory.current", "5000\n");
  Write("/sys/fs/cgroup/a/memory.stat", "anon 3000\ninactive_file 2000\n");
  EXPECT_EQ(AvailableMemory(root()), 6000);
  Write("/sys/fs/cgroup/a/memory.current", "99000\n");
  EXPECT_EQ(AvailableMemory(root()), 0);
}

TEST_F(MemoryLimitTest, ReadsTheFirstVersionOfGroups) {
  Write("/proc/meminfo", "MemTotal:  1000 kB\nMemAvailable:  600 kB\n");
  Write("/proc/self/cgroup", "4:cpu,memory:/a\n3:cpuset:/b\n0::/\n");
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9000\n");
  EXPECT_EQ(MachineMemory(root()), 9000);
  Write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "5000\n");
  Write("/sys/fs/cgroup/memory/a/memory.stat", "total_inactive_file 1000\n");
  EXPECT_EQ(AvailableMemory(root()), 5000);
  // Without a limit of its own.
  Write("/proc/self/cgroup", "nonsense\n4:memory:/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(MachineMemory(root()), 1000 << 10);
}

TEST_F(MemoryLimitTest, AMachineWithoutAMemoryFigureIsAnError) {
  EXPECT_THAT([] { (void)MachineMemory("/nowhere"); },
              ThrowsMessage<IoError>(HasSubstr("/nowhere/proc/meminfo")));
}

TEST_F(MemoryLimitTest, ParsesSizesAndShares) {
  EXPECT_EQ(ParseMemoryLimit("512MB", root()), 512'000'000);
  EXPECT_EQ(ParseMemoryLimit("4GiB", root()), std::int64_t{4} << 30);
  EXPECT_EQ(ParseMemoryLimit("50%", root()), 512'000);
  EXPECT_EQ(ParseMemoryLimit("100%", root()), 1'024'000);
}

TEST_F(MemoryLimitTest, RefusesTextThatIsNeitherASizeNorAShare) {
  for (const char* text : {"", "%", "0%", "101%", "5%%", "half", "1XB"}) {
    EXPECT_THAT([&] { (void)ParseMemoryLimit(text, root()); },
                ThrowsMessage<UsageError>(
                    HasSubstr("memory_limit " + std::string(text) + ": give")))
        << text;
  }
}

TEST_F(MemoryLimitTest, FindsThisMachinesMemory) {
  const std::int64_t bytes = MachineMemory();
  EXPECT_GT(bytes, 1 << 20);
  EXPECT_LE(bytes,
            std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE));
}

}  // namespace
}  // namespace infeed
