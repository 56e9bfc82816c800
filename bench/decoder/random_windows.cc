#include "bench/decoder/random_windows.h"

#include <algorithm>

#include "preprocess/recipe/crop.h"

namespace infeed {
namespace {

struct Range {
  int begin = 0;
  int length = 0;
};

int Draw(int below, RandomSource& random) {
  return static_cast<int>(random.Below(static_cast<std::uint32_t>(below)));
}

// Any range of [0, size) of at most `longest`.
Range AnyRange(int size, int longest, RandomSource& random) {
  const int begin = Draw(size, random);
  return {begin, 1 + Draw(std::min(size - begin, longest), random)};
}

// A range that begins or ends at the edge, or one or two pixels from it.
Range EdgeRange(int size, RandomSource& random) {
  const int gap = std::min(Draw(3, random), size - 1);
  const int length = 1 + Draw(size - gap, random);
  return {Draw(2, random) == 0 ? gap : size - gap - length, length};
}

Window Combined(const Range& rows, const Range& columns) {
  return {rows.begin, columns.begin, rows.length, columns.length};
}

Window Drawn(int kind, int height, int width, RandomSource& random) {
  constexpr int kFew = 24;
  switch (kind) {
    case 0: {
      const Range rows = AnyRange(height, height, random);
      return Combined(rows, AnyRange(width, width, random));
    }
    case 1:
      return RandomCropWindow(height, width, random);
    case 2: {
      const Range rows = EdgeRange(height, random);
      return Combined(rows, EdgeRange(width, random));
    }
    default: {
      const Range rows = AnyRange(height, kFew, random);
      return Combined(rows, AnyRange(width, kFew, random));
    }
  }
}

}  // namespace

std::vector<Window> RandomWindows(int height, int width, int count,
                                  const SampleKey& key) {
  SampleRandom random(key, RandomStream::kMadeData);
  std::vector<Window> windows = {{0, 0, height, width}};
  for (int i = 1; i < count; ++i) {
    windows.push_back(Drawn(i % 4, height, width, random));
  }
  return windows;
}

}  // namespace infeed
