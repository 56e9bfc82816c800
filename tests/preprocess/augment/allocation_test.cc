#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/augment/augment.h"
#include "tests/support/augment_images.h"

namespace {

std::atomic<std::int64_t> allocations = 0;  // of this program

}  // namespace

// NOLINTBEGIN(*-no-malloc): these are what others call. Not inlined: GCC would
// take malloc() and delete, or new and free(), for pairs that do not match.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}
// NOLINTEND(*-no-malloc)

namespace infeed {
namespace {

TEST(AugmenterTest, AllocatesNothingOnceWarm) {
  constexpr int kSide = 24;
  Augmenter augmenter({.policy = AugmentPolicy::kRandAugment,
                       .brightness = 0.4F,
                       .contrast = 0.4F,
                       .saturation = 0.4F,
                       .hue = 0.1F,
                       .erasing = 0.5F},
                      kSide);
  std::vector<std::uint32_t> pixels = AugmentImage("noise", kSide);
  const auto augment = [&] {
    const std::int64_t before = allocations;
    for (std::uint64_t i = 0; i < 100; ++i) {
      augmenter.Apply(pixels, {.position = i});
    }
    return allocations - before;
  };
  EXPECT_GT(augment(), 0);
  EXPECT_EQ(augment(), 0);
}

}  // namespace
}  // namespace infeed
