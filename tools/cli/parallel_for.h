#pragma once

#include <cstddef>
#include <functional>

namespace infeed {

// Calls body(i) for each i in 0..count-1 from several threads, each index once,
// lower ones first, and returns when all are done. After the first exception
// no further index is begun, and it comes out of this function once the calls
// that were under way have returned. threads = 0: one for each core.
// Requires: body may be called from several threads at once.
void ParallelFor(std::size_t count, int threads,
                 const std::function<void(std::size_t)>& body);

}  // namespace infeed
