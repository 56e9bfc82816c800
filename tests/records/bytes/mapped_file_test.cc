#include "records/bytes/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/bytes.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public ::testing::Test {
 protected:
  // Files of ten pages; the last one is not full.
  static constexpr std::size_t kBytes = 9 * 4096 + 100;

  std::string Write(const std::string& name, char letter) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << std::string(kBytes, letter);
    return path;
  }

  const TemporaryFolder folder_;
};

TEST_F(MappedFileTest, HasTheBytesOfTheFile) {
  const auto file = MappedFile::Map(Write("a", 'a'));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(AsText(file->bytes()), std::string(kBytes, 'a'));
  EXPECT_FALSE(file->is_damaged());
}

TEST_F(MappedFileTest, IsNullWhereNothingCanBeMapped) {
  EXPECT_EQ(MappedFile::Map(folder_ / "missing"), nullptr);
  EXPECT_EQ(MappedFile::Map(folder_.path()), nullptr);
  const std::string empty = folder_ / "empty";
  std::ofstream{empty};
  EXPECT_EQ(MappedFile::Map(empty), nullptr);
}

// Where addresses have 32 bits, the length modulo 2^32 could be mapped.
TEST_F(MappedFileTest, IsWholeOrNullBeyond4Gib) {
  const std::string path = Write("sparse", 'a');
  constexpr std::uint64_t kLength = (std::uint64_t{1} << 32) + kBytes;
  fs::resize_file(path, kLength);
  const auto file = MappedFile::Map(path);
  EXPECT_EQ(file ? file->bytes().size() : 0, sizeof(void*) > 4 ? kLength : 0);
}

TEST_F(MappedFileTest, ReadsAsZerosWhereTheFileHasLostBytes) {
  const std::string path = Write("short", 'a');
  const auto file = MappedFile::Map(path);
  const auto other = MappedFile::Map(Write("whole", 'b'));
  fs::resize_file(path, 4096);
  EXPECT_FALSE(file->is_damaged());
  EXPECT_EQ(AsText(file->bytes()),
            std::string(4096, 'a') + std::string(kBytes - 4096, '\0'));
  EXPECT_TRUE(file->is_damaged());
  EXPECT_EQ(AsText(other->bytes()), std::string(kBytes, 'b'));
  EXPECT_FALSE(other->is_damaged());
}

TEST_F(MappedFileTest, StartsUndamagedWhereADamagedOneWas) {
  const std::string path = Write("short", 'a');
  auto file = MappedFile::Map(path);
  fs::resize_file(path, 1);
  EXPECT_EQ(file->bytes()[8192], std::byte{0});
  EXPECT_TRUE(file->is_damaged());
  file.reset();
  file = MappedFile::Map(Write("next", 'b'));
  EXPECT_EQ(AsText(file->bytes()), std::string(kBytes, 'b'));
  EXPECT_FALSE(file->is_damaged());
}

TEST_F(MappedFileTest, ThreadsMeetTheLossTogether) {
  std::vector<std::unique_ptr<MappedFile>> files;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    const std::string path = Write(std::string(1, letter), letter);
    files.push_back(MappedFile::Map(path));
    fs::resize_file(path, 0);
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (const auto& file : files) {
          EXPECT_TRUE(std::ranges::all_of(file->bytes(), [](std::byte byte) {
            return byte == std::byte{0};
          }));
        }
      });
    }
  }
  for (const auto& file : files) {
    EXPECT_TRUE(file->is_damaged());
  }
}

// Reads what a mapping of no guard has lost.
void ReadUnguarded(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  void* const start =
      ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, descriptor, 0);
  fs::resize_file(path, 0);
  volatile const char first = *static_cast<const char*>(start);
  (void)first;
}

TEST_F(MappedFileTest, LeavesTheSignalOfOtherMappingsAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string path = Write("other", 'a');
  EXPECT_DEATH(
      {
        const auto guarded = MappedFile::Map(Write("guarded", 'b'));
        ReadUnguarded(path);
      },
      "");
}

}  // namespace
}  // namespace infeed
