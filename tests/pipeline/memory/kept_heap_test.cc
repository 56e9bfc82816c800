#include "pipeline/memory/kept_heap.h"

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "gtest/gtest.h"

namespace infeed {
namespace {

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
