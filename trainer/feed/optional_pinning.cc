#include "trainer/feed/optional_pinning.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>

namespace infeed {
namespace {

// Thread-safe.
class OptionalPins {
 public:
  OptionalPins(BatchMemory memory, std::function<void(const std::string&)> say)
      : memory_(std::move(memory)), say_(std::move(say)) {}

  void Pin(std::span<std::byte> bytes) {
    try {
      memory_.pin(bytes);
    } catch (const std::exception& error) {
      Refuse(bytes, error.what());
    }
  }

  void Unpin(std::span<std::byte> bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (refused_.erase(bytes.data()) > 0) {
        return;
      }
    }
    memory_.unpin(bytes);
  }

 private:
  void Refuse(std::span<std::byte> bytes, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    refused_.insert(bytes.data());
    if (const auto say = std::exchange(say_, nullptr)) {
      say("batches are copied to the device from memory that is not pinned, "
          "which is slower (ulimit -l may limit it): " +
          reason);
    }
  }

  BatchMemory memory_;
  std::mutex mutex_;                             // guards the members below
  std::function<void(const std::string&)> say_;  // until it was called
  std::set<const std::byte*> refused_;
};

}  // namespace

BatchMemory PinIfPossible(const BatchMemory& memory,
                          std::function<void(const std::string&)> say) {
  if (!memory.pin) {
    return memory;
  }
  const auto pins = std::make_shared<OptionalPins>(memory, std::move(say));
  return {.pin = [pins](std::span<std::byte> bytes) { pins->Pin(bytes); },
          .unpin = [pins](std::span<std::byte> bytes) { pins->Unpin(bytes); }};
}

}  // namespace infeed
