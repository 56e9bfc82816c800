#include "bench/decoder/window_check.h"

#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "bench/decoder/random_windows.h"

namespace infeed {
namespace {

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
  try {
    const JpegInfo info = decoder_.ReadHeader(bytes);
    if (window == nullptr) {
      return {};
    }
    if (KeyOf(info) != KeyOf(info_)) {
      return {"another size or kind", {}, ""};
    }
    ImageSink sink(image_);
    decoder_.DecodeScaledWindow(options_.denominator, *window, sink, index);
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
    const std::string difference = DifferenceOf(outcome, expected);
    ++tally.windows;
    tally.equal += difference.empty() ? 1 : 0;
    tally.refused += difference.empty() && !outcome.error.empty() ? 1 : 0;
    tally.plain += outcome.error.empty() && decoder_.was_plain() ? 1 : 0;
    tally.indexed += index != nullptr ? 1 : 0;
    tally.hash += HashOf(outcome);
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
  for (std::size_t i = 0; i < windows.size(); ++i) {
    // For a good image the expected windows are crops of the whole. A broken
    // image is decoded window by window, as a window may lie above the damage.
    const DecodeOutcome expected =
        is_sound ? DecodeOutcome{"", whole_.view(windows[i]), ""}
                 : DecodeReference(bytes, &windows[i], expected_);
    compare(&windows[i], nullptr, expected);
    if (!indexes.empty()) {
      compare(&windows[i], &indexes[i % indexes.size()], expected);
    }
  }
}

}  // namespace infeed
