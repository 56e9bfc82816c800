#include "pipeline/memory/page_memory.h"

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <new>
#include <utility>

#include "pipeline/memory/kept_heap.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Resident pages of this process.
std::int64_t ResidentPages() {
  std::int64_t total = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

bool IsZero(const PageMemory& memory) {
  for (const std::byte byte : memory.bytes()) {
    if (byte != std::byte{0}) {
      return false;
    }
  }
  return true;
}

TEST(PageMemoryTest, APageIsZeroes) {
  const PageMemory small(1);
  EXPECT_EQ(small.bytes().size(), PageMemory::RoundUp(1));
  EXPECT_TRUE(IsZero(small));
  const PageMemory large(kHugePage + 1);
  EXPECT_EQ(large.bytes().size(), 2 * kHugePage);
  EXPECT_TRUE(IsZero(large));
}

TEST(PageMemoryTest, BeginsAtAHugePageWhereItIsThatLarge) {
  for (int i = 1; i < 9; ++i) {
    const PageMemory memory(static_cast<std::size_t>(i) * kHugePage);
    EXPECT_EQ(
        reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % kHugePage,
        0U);
    memory.bytes().back() = std::byte{1};
  }
}

TEST(PageMemoryTest, GoesBackToTheSystem) {
  constexpr std::int64_t kPages = 8000;
  const std::int64_t before = ResidentPages();
  {
    const PageMemory memory(kPages * 4096);
    for (std::byte& byte : memory.bytes()) {
      byte = std::byte{1};
    }
    EXPECT_GE(ResidentPages(), before + kPages);
  }
  EXPECT_LT(ResidentPages(), before + kPages / 8);
}

TEST(PageMemoryTest, MovesItsMemory) {
  PageMemory first(100);
  first.bytes()[0] = std::byte{7};
  const PageMemory second = std::move(first);
  EXPECT_EQ(second.bytes()[0], std::byte{7});
}

TEST(PageMemoryTest, AFailedAllocationIsBadAlloc) {
  EXPECT_THROW(PageMemory(std::size_t{1} << 60), std::bad_alloc);
}

constexpr std::size_t kBlock = std::size_t{48} << 20;
constexpr std::int64_t kPages = kBlock / 4096;

std::int64_t PageFaults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

void TakeAndFree() {
  void* const block = std::malloc(kBlock);
  ASSERT_NE(block, nullptr);
  // volatile, or the compiler leaves out what is never read.
  auto* const bytes = static_cast<volatile std::uint8_t*>(block);
  for (std::size_t i = 0; i < kBlock; i += 4096) {
    bytes[i] = 1;
  }
  std::free(block);
}

TEST(KeptHeapTest, TakesAFreedBlocksPagesForTheNextBlock) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "malloc() is the sanitizer's";
#endif
  KeepHeap(2 * kBlock);
  TakeAndFree();
  const std::int64_t before = PageFaults();
  for (int i = 0; i < 4; ++i) {
    TakeAndFree();
  }
  EXPECT_LT(PageFaults() - before, kPages / 8);
}

}  // namespace
}  // namespace infeed
