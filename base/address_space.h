#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace infeed {

// Address space that libraries with OpenBLAS take when they are loaded.
inline constexpr std::size_t kLibraryBytes = std::size_t{320} << 20;

// Whether the process can get this much more memory under its limits; takes
// none. May be called before main.
[[nodiscard]] inline bool HasAddressSpace(std::size_t bytes) {
  void* const place =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place != MAP_FAILED && ::munmap(place, bytes) == 0;
}

}  // namespace infeed
