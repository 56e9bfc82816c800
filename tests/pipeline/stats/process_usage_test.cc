#include "pipeline/stats/process_usage.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr std::int64_t kBytes = 1 << 20;

// Reads a file, from the device when the page cache is asked to forget it.
// Returns what the device gave.
std::int64_t Reading(const std::string& path, bool forget) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_GE(file, 0);
  if (forget) {
    EXPECT_EQ(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
  }
  const std::int64_t before = StorageBytesRead();
  std::string bytes(kBytes, '\0');
  EXPECT_EQ(::pread(file, bytes.data(), bytes.size(), 0), kBytes);
  ::close(file);
  return StorageBytesRead() - before;
}

TEST(StorageReadsTest, CountsWhatThePageCacheDidNotHave) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  WriteFileAtomically(path, std::string(kBytes, 'x'));
  const std::int64_t from_device = Reading(path, /*forget=*/true);
  if (from_device == 0) {
    GTEST_SKIP() << "this file system's reads are not counted";
  }
  EXPECT_GE(from_device, kBytes);
  EXPECT_LT(Reading(path, /*forget=*/false), kBytes);
}

}  // namespace
}  // namespace infeed
