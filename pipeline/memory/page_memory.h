#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace infeed {

// Memory of whole pages from the system, for what is large and lives long:
// zeros at first, taken up page by page as it is touched, and given back whole
// when the object goes, unlike what an allocator frees. From 2 MiB on it begins
// at a huge page, and is of those where the system has them for who asks.
//
// Owns the memory. Move only.
class PageMemory {
 public:
  // Requires: bytes > 0. Throws std::bad_alloc.
  explicit PageMemory(std::size_t bytes);

  // As long as was asked for, rounded up to pages.
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {memory_.get(), memory_.get_deleter().bytes};
  }

  // What an object of so many bytes takes up at most.
  [[nodiscard]] static std::size_t RoundUp(std::size_t bytes);

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Unmap> memory_;
};

}  // namespace infeed
