#pragma once

#include <cstddef>

namespace infeed {

// From now on large blocks that this process frees are kept for its next ones,
// instead of being returned to the system: a training step on the CPU allocates
// the same blocks as the step before, and the system's zeroing of their pages
// took a sixth of its CPU time. `bytes` of the heap are advised as huge pages;
// they are not resident until they are touched.
//
// Changes malloc() for the whole process, and is for its main thread. Does
// nothing where malloc() is not glibc's.
void KeepHeap(std::size_t bytes);

}  // namespace infeed
