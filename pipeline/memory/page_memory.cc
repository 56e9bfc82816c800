#include "pipeline/memory/page_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#include "base/error.h"
#include "base/rounding.h"

namespace infeed {
namespace {

std::size_t UnitOf(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes < PageMemory::kHugePage ? page : PageMemory::kHugePage;
}

std::byte* Map(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return static_cast<std::byte*>(memory);
}

// Maps more than needed and unmaps the parts before and after the aligned
// block.
std::byte* MapAligned(std::size_t bytes, std::size_t unit) {
  std::byte* const start = Map(bytes + unit);
  const std::size_t before =
      (unit - reinterpret_cast<std::uintptr_t>(start) % unit) % unit;
  if (before > 0) {
    ::munmap(start, before);
  }
  if (before < unit) {
    ::munmap(start + before + bytes, unit - before);
  }
  return start + before;
}

std::byte* MapPages(std::size_t bytes) {
  Check(bytes > 0, "there is something to keep");
  if (bytes < PageMemory::kHugePage) {
    return Map(bytes);
  }
  std::byte* const start = MapAligned(bytes, PageMemory::kHugePage);
  // A system without huge pages, or with them disabled, uses small pages.
  (void)::madvise(start, bytes, MADV_HUGEPAGE);
  return start;
}

}  // namespace

std::size_t PageMemory::RoundUp(std::size_t bytes) {
  return infeed::RoundUp(bytes, UnitOf(bytes));
}

void PageMemory::Unmap::operator()(std::byte* memory) const {
  ::munmap(memory, bytes);
}

PageMemory::PageMemory(std::size_t bytes)
    : memory_(MapPages(RoundUp(bytes)), Unmap{RoundUp(bytes)}) {}

}  // namespace infeed
