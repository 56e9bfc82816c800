#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace infeed {

// What is done to the memory of each batch of a pool beside mapping it, so that
// a device may copy from it by itself: pin once it is mapped, unpin before it
// goes, with the same bytes. Both or neither is there. They may be called from
// any thread; an exception of pin comes out of the pool's constructor.
struct BatchMemory {
  using Hook = std::function<void(std::span<std::byte>)>;
  Hook pin = {};
  Hook unpin = {};
};

}  // namespace infeed
