#pragma once

#include <cstddef>
#include <functional>

namespace infeed {

// Calls body(i) once for each i in 0..count-1 from several threads, lower
// indices first, and returns when all calls are done. After the first exception
// no further call begins; it is rethrown once the running calls have returned.
// threads = 0: one per core. Requires: body may be called from several threads
// at once.
void ParallelFor(std::size_t count, int threads,
                 const std::function<void(std::size_t)>& body);

}  // namespace infeed
