#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace infeed {

// Pins the memory of each batch of a pool, so that a device can copy from it by
// DMA: pin is called once the memory is mapped, unpin with the same bytes
// before it is unmapped. Both are set, or neither. They may be called from any
// thread; the pool's constructor passes on an exception of pin.
struct BatchMemory {
  using Hook = std::function<void(std::span<std::byte>)>;
  Hook pin = {};
  Hook unpin = {};
};

}  // namespace infeed
