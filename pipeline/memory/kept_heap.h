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

// From now on the heap keeps 64 MiB that are freed, unless the environment sets
// MALLOC_TRIM_THRESHOLD_ or MALLOC_TOP_PAD_: for a process that exchanges
// messages with input workers. By default the memory of each message goes back
// to the system, which zeroes it for the next one. As KeepHeap(), for the main
// thread and for glibc.
void KeepMessageMemory();

}  // namespace infeed
