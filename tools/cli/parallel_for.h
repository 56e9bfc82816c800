#pragma once

#include <cstddef>
#include <functional>

namespace infeed {

// The number of threads that a --threads flag means: 0 is one per core.
[[nodiscard]] std::size_t ThreadCount(int threads);

// Calls body(i) once for each i in 0..count-1 from several threads, lower
// indices first, and returns when all calls are done. After the first exception
// no further call begins; it is rethrown once the running calls have returned.
// threads: as for ThreadCount(). Requires: body may be called from several
// threads at once.
void ParallelFor(std::size_t count, int threads,
                 const std::function<void(std::size_t)>& body);

}  // namespace infeed
