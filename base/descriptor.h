#pragma once

#include <unistd.h>

#include <utility>

namespace infeed {

// A file descriptor that is closed at the end of its scope; negative: none.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { (void)Close(); }

  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool is_open() const { return value_ >= 0; }
  [[nodiscard]] int Release() { return std::exchange(value_, -1); }
  // Returns what close() returns; 0 if there is none.
  int Close() { return value_ < 0 ? 0 : ::close(Release()); }

 private:
  int value_;
};

}  // namespace infeed
