#include "bench/decoder/window_check.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "preprocess/recipe/crop.h"
#include "records/bytes/crc32c.h"

namespace infeed {
namespace {

// "", or the place of the first different pixel.
std::string PixelDifference(const RgbView& pixels, const RgbView& expected) {
  if (pixels.width != expected.width || pixels.height != expected.height) {
    return "another size";
  }
  for (int y = 0; y < pixels.height; ++y) {
    const std::uint8_t* const row = pixels.row(y);
    const std::uint8_t* const end = row + std::ptrdiff_t{3} * pixels.width;
    const auto [at, other] = std::mismatch(row, end, expected.row(y));
    if (at != end) {
      return fmt::format("row {}, column {}, channel {}: {} is not {}", y,
                         (at - row) / 3, (at - row) % 3, *at, *other);
    }
  }
  return "";
}

std::string Quoted(const std::string& error) {
  return error.empty() ? "pixels" : "'" + error + "'";
}

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

std::string PlaceText(const Window* window, const JpegSeekIndex* index) {
  const std::string with =
      index == nullptr ? "" : fmt::format("index of {} MCUs, ", index->run);
  return window == nullptr
             ? "header: "
             : with + fmt::format("window y {} x {} of {}x{}: ", window->y,
                                  window->x, window->width, window->height);
}

// One index for each distance of entries; none if the JPEG cannot have one.
std::vector<JpegSeekIndex> MakeIndexes(std::span<const std::byte> bytes) {
  std::vector<JpegSeekIndex> indexes;
  for (const int run : {0, 8, 4}) {
    if (std::optional<JpegSeekIndex> index = MakeSeekIndex(bytes, run)) {
      indexes.push_back(std::move(*index));
    }
  }
  return indexes;
}

auto KeyOf(const JpegInfo& info) {
  return std::tuple(info.width, info.height, info.components, info.progressive);
}

}  // namespace

std::string DescribeDifference(const DecodeOutcome& outcome,
                               const DecodeOutcome& expected) {
  if (outcome.error != expected.error) {
    return Quoted(outcome.error) + " is not " + Quoted(expected.error);
  }
  if (outcome.warning != expected.warning) {
    return "warning '" + outcome.warning + "' is not '" + expected.warning +
           "'";
  }
  return PixelDifference(outcome.pixels, expected.pixels);
}

std::uint64_t HashOutcome(const DecodeOutcome& outcome) {
  const RgbView& pixels = outcome.pixels;
  std::uint32_t crc = Crc32c(std::as_bytes(std::span(outcome.error)));
  for (int y = 0; y < pixels.height; ++y) {
    const std::span row(pixels.row(y), std::size_t{3} * pixels.width);
    crc = ExtendCrc32c(crc, std::as_bytes(row));
  }
  // Spread over 64 bits, so that a sum of many hashes stays distinctive.
  std::uint64_t hash = crc + 0x9E3779B97F4A7C15U;
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EBU;
  return hash ^ hash >> 31;
}

std::vector<Window> RandomWindows(int height, int width, int count,
                                  const SampleKey& key) {
  SampleRandom random(key, RandomStream::kMadeData);
  std::vector<Window> windows = {{0, 0, height, width}};
  for (int i = 1; i < count; ++i) {
    windows.push_back(Drawn(i % 4, height, width, random));
  }
  return windows;
}

WindowTally& WindowTally::operator+=(const WindowTally& other) {
  images += other.images;
  windows += other.windows;
  equal += other.equal;
  refused += other.refused;
  plain += other.plain;
  indexed += other.indexed;
  hash += other.hash;
  return *this;
}

WindowChecker::WindowChecker(const WindowCheckOptions& options)
    : options_(options),
      decoder_(options.limits, options.warnings),
      reference_(options.limits, options.warnings) {}

DecodeOutcome WindowChecker::Decode(std::span<const std::byte> bytes,
                                    const Window* window,
                                    const JpegSeekIndex* index) {
  found_.entries.clear();
  try {
    const JpegInfo info = decoder_.ReadHeader(bytes);
    if (window == nullptr) {
      return {};
    }
    if (KeyOf(info) != KeyOf(info_)) {
      return {"another size or kind", {}, ""};
    }
    ImageSink sink(image_);
    decoder_.DecodeScaledWindow(options_.denominator, *window, sink, index,
                                &found_);
    if (index != nullptr && decoder_.index_use() != JpegIndexUse::kUsed) {
      return {"the index is not used", {}, ""};
    }
    return {"", image_.view(), WarningOf(decoder_)};
  } catch (const DataError& error) {
    return {error.what(), {}, ""};
  }
}

DecodeOutcome WindowChecker::DecodeReference(std::span<const std::byte> bytes,
                                             const Window* window,
                                             RgbImage& image) {
  try {
    info_ = reference_.ReadHeader(bytes);
    if (window == nullptr) {
      return {};
    }
    ImageSink sink(image);
    reference_.DecodeScaledWindow(options_.denominator, *window, sink);
    return {"", image.view(), WarningOf(reference_)};
  } catch (const DataError& error) {
    return {error.what(), {}, ""};
  }
}

void WindowChecker::Check(const FoundJpeg& jpeg, WindowTally& tally,
                          std::vector<std::string>& differences) {
  const std::span bytes = std::as_bytes(std::span(jpeg.bytes));
  const auto compare = [&](const Window* window, const JpegSeekIndex* index,
                           const DecodeOutcome& expected) {
    const DecodeOutcome outcome = Decode(bytes, window, index);
    const std::string difference = DescribeDifference(outcome, expected);
    ++tally.windows;
    tally.equal += difference.empty() ? 1 : 0;
    tally.refused += difference.empty() && !outcome.error.empty() ? 1 : 0;
    tally.plain += outcome.error.empty() && decoder_.was_plain() ? 1 : 0;
    tally.indexed += index != nullptr ? 1 : 0;
    tally.hash += HashOutcome(outcome);
    if (!difference.empty()) {
      differences.push_back(jpeg.name + ": " + PlaceText(window, index) +
                            difference);
    }
  };
  ++tally.images;
  const DecodeOutcome header = DecodeReference(bytes, nullptr, whole_);
  if (!header.error.empty()) {
    return compare(nullptr, nullptr, header);
  }
  const auto scaled = [&](int side) {
    return (side + options_.denominator - 1) / options_.denominator;
  };
  const std::vector<Window> windows =
      RandomWindows(scaled(info_.height), scaled(info_.width), options_.windows,
                    {.position = static_cast<std::uint64_t>(jpeg.number)});
  const DecodeOutcome whole = DecodeReference(bytes, &windows.front(), whole_);
  const bool is_sound = whole.error.empty() && whole.warning.empty();
  const std::vector<JpegSeekIndex> indexes = MakeIndexes(bytes);
  JpegSeekIndex known;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    // For a good image the expected windows are crops of the whole. A broken
    // image is decoded window by window, as a window may lie above the damage.
    const DecodeOutcome expected =
        is_sound ? DecodeOutcome{"", whole_.view(windows[i]), ""}
                 : DecodeReference(bytes, &windows[i], expected_);
    compare(&windows[i], nullptr, expected);
    const JpegSeekIndex found = found_;
    if (!indexes.empty()) {
      compare(&windows[i], &indexes[i % indexes.size()], expected);
    }
    if (known.entries.empty()) {
      known = found;
    } else {
      compare(&windows[i], &known, expected);
      known = found_.entries.empty() ? known : found_;
    }
    if (!known.entries.empty() && known.is_complete()) {
      known.entries.clear();  // Begin again with a partial one.
    }
  }
}

}  // namespace infeed
