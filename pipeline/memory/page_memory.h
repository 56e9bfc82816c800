#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace infeed {

// Whole pages of memory from the system, for large and long-lived data: zero at
// first, resident page by page as they are touched, and returned to the system
// when the object is destroyed, which an allocator does not promise. Blocks of
// 2 MiB and more are aligned to, and advised as, huge pages.
//
// Owns the memory. Move only.
class PageMemory {
 public:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  // Requires: bytes > 0. Throws std::bad_alloc.
  explicit PageMemory(std::size_t bytes);

  // The requested size, rounded up to pages.
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {memory_.get(), memory_.get_deleter().bytes};
  }

  // The most memory that an object of this many bytes takes.
  [[nodiscard]] static std::size_t RoundUp(std::size_t bytes);

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Unmap> memory_;
};

}  // namespace infeed
