#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <string>

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

// The path by which dlopen() loads a plugin of infeed: that of the file NAME in
// the folder of the program or library that this code is in, in the folder
// above it if it is bin/, as in Python's package, in ../lib/infeed, or in
// ../../lib/infeed.
// Where none is there, NAME itself, which dlopen() looks for in the RUNPATH:
// find_package(infeed) gives programs the folder of the installed plugins.
[[nodiscard]] std::string PluginPath(const std::string& name);

}  // namespace infeed
