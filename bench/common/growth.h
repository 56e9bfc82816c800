#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace infeed {

// What a process held at one moment.
struct Holding {
  double seconds = 0;  // since the start
  std::int64_t bytes = 0;
  std::size_t descriptors = 0;
  std::size_t threads = 0;
};

// What a process that should hold as much at its end as before has more of:
// "memory grew from 200 to 300 MiB", "open files grew from 9 to 12"; empty:
// nothing. The most of the last quarter is held against the most of the second
// one, so that the first may warm up; memory may be an eighth and 8 MiB more,
// as allocators move. Requires: 8 holdings or more, in order.
[[nodiscard]] std::string GrowthOf(std::span<const Holding> holdings);

}  // namespace infeed
