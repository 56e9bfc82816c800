#include "pipeline/memory/kept_heap.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "base/environment.h"
#include "base/rounding.h"
#include "pipeline/memory/page_memory.h"

namespace infeed {
namespace {

// The pages stay with the heap when the block is freed, and so does the advice.
void AdviseHugePages(std::size_t bytes) {
  const std::unique_ptr<void, decltype(&std::free)> block(
      std::malloc(bytes + PageMemory::kHugePage), &std::free);
  if (!block) {
    return;
  }
  const auto start = reinterpret_cast<std::uintptr_t>(block.get());
  const std::size_t before = RoundUp(start, PageMemory::kHugePage) - start;
  (void)::madvise(static_cast<std::byte*>(block.get()) + before, bytes,
                  MADV_HUGEPAGE);
}

}  // namespace

void KeepHeap(std::size_t bytes) {
#ifdef __GLIBC__
  // By default glibc unmaps large blocks in free() and trims the heap's end.
  if (::mallopt(M_MMAP_MAX, 0) == 1 && ::mallopt(M_TRIM_THRESHOLD, -1) == 1) {
    AdviseHugePages(bytes);
  }
#endif
}

void KeepMessageMemory() {
#ifdef __GLIBC__
  constexpr int kKeptBytes = 64 << 20;
  const Environment environment = ProcessEnvironment();
  if (!environment("MALLOC_TRIM_THRESHOLD_") &&
      !environment("MALLOC_TOP_PAD_")) {
    (void)::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
    (void)::mallopt(M_TOP_PAD, kKeptBytes);
  }
#endif
}

}  // namespace infeed
