#include <string>
#include <utility>

#include "base/error.h"
#include "base/rounding.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg/plain.h"
#include "preprocess/jpeg/reference.h"

namespace infeed {
namespace {

void RequireInside(const Window& window, const JpegInfo& info,
                   int denominator) {
  const int width = CeilDiv(info.width, denominator);
  const int height = CeilDiv(info.height, denominator);
  Check(window.x >= 0 && window.y >= 0 && window.width > 0 &&
            window.height > 0 && window.width <= width - window.x &&
            window.height <= height - window.y,
        "the window lies inside the image");
}

}  // namespace

// Plain JPEGs are decoded by our own decoder, all others by libjpeg-turbo,
// which also decodes, from the start, a plain JPEG that proves irregular.
struct JpegDecoder::State {
  State(const JpegLimits& limits_in, JpegWarnings warnings)
      : limits(limits_in), reference(limits, warnings) {}

  [[nodiscard]] bool DecodePlain(int denominator, const Window& window,
                                 const JpegSeekIndex* index, RowSink& sink,
                                 JpegSeekIndex* found);
  // Begins the image in libjpeg-turbo, unless that was done.
  void BeginReference();

  JpegLimits limits;
  ReferenceJpegDecoder reference;
  PlainJpegDecoder plain;
  std::span<const std::byte> bytes;
  JpegInfo info = {};
  bool header_read = false;
  bool is_plain = false;  // by the header; after decoding: was decoded as plain
  JpegIndexUse index_use = JpegIndexUse::kNone;
};

bool JpegDecoder::State::DecodePlain(int denominator, const Window& window,
                                     const JpegSeekIndex* index, RowSink& sink,
                                     JpegSeekIndex* found) {
  if (index != nullptr) {
    const PlainResult result =
        plain.DecodeWindow(denominator, window, index, sink, found);
    index_use = result == PlainResult::kIndexRefused ? JpegIndexUse::kRefused
                                                     : JpegIndexUse::kUsed;
    if (result != PlainResult::kIndexRefused) {
      return result == PlainResult::kDone;
    }
  }
  return plain.DecodeWindow(denominator, window, nullptr, sink, found) ==
         PlainResult::kDone;
}

void JpegDecoder::State::BeginReference() {
  if (is_plain) {
    is_plain = false;
    std::ignore = reference.ReadHeader(bytes);
  }
}

JpegDecoder::JpegDecoder(const JpegLimits& limits, JpegWarnings warnings)
    : state_(std::make_unique<State>(limits, warnings)) {}
JpegDecoder::~JpegDecoder() = default;
JpegDecoder::JpegDecoder(JpegDecoder&&) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&&) noexcept = default;

JpegInfo JpegDecoder::ReadHeader(std::span<const std::byte> bytes) {
  State& state = *state_;
  state.header_read = false;
  state.bytes = bytes;
  state.index_use = JpegIndexUse::kNone;
  state.is_plain = state.plain.ReadHeader(bytes);
  if (state.is_plain) {
    const JpegScan& scan = state.plain.scan();
    CheckPixels(scan.width, scan.height, state.limits);
    state.info = {.width = scan.width,
                  .height = scan.height,
                  .components = scan.component_count,
                  .progressive = false};
  } else {
    state.info = state.reference.ReadHeader(bytes);
  }
  state.header_read = true;
  return state.info;
}

void JpegDecoder::Decode(RgbImage& image) {
  const JpegInfo& info = state_->info;
  DecodeWindow({.y = 0, .x = 0, .height = info.height, .width = info.width},
               image);
}

void JpegDecoder::DecodeWindow(const Window& window, RgbImage& image) {
  ImageSink sink(image);
  DecodeWindow(window, sink);
}

void JpegDecoder::DecodeWindow(const Window& window, RowSink& sink,
                               const JpegSeekIndex* index) {
  DecodeScaledWindow(1, window, sink, index);
}

void JpegDecoder::DecodeScaledWindow(int denominator, const Window& window,
                                     RowSink& sink, const JpegSeekIndex* index,
                                     JpegSeekIndex* found) {
  State& state = *state_;
  Check(std::exchange(state.header_read, false),
        "a header is read before each decode");
  Check(denominator == 1 || denominator == 2 || denominator == 4 ||
            denominator == 8,
        "a denominator is 1, 2, 4 or 8");
  RequireInside(window, state.info, denominator);
  if (!state.is_plain ||
      !state.DecodePlain(denominator, window, index, sink, found)) {
    if (found != nullptr) {
      found->entries.clear();
    }
    state.BeginReference();
    state.reference.DecodeScaledWindow(denominator, window, sink);
  }
}

void JpegDecoder::DecodeScaled(int eighths, RgbImage& image) {
  constexpr int kWhole = 8;
  Check(eighths >= 1 && eighths <= kWhole, "a scale is in eighths");
  State& state = *state_;
  ImageSink sink(image);
  if (kWhole % eighths == 0) {
    const int denominator = kWhole / eighths;
    return DecodeScaledWindow(
        denominator,
        {.y = 0,
         .x = 0,
         .height = CeilDiv(state.info.height, denominator),
         .width = CeilDiv(state.info.width, denominator)},
        sink);
  }
  Check(std::exchange(state.header_read, false),
        "a header is read before each decode");
  state.BeginReference();
  state.reference.DecodeScaled(eighths, sink);
}

bool JpegDecoder::CompleteIndex(std::span<const std::byte> bytes,
                                JpegSeekIndex& index) {
  PlainJpegDecoder& plain = state_->plain;
  return plain.ReadHeader(bytes) && plain.CompleteIndex(index);
}

bool JpegDecoder::was_plain() const { return state_->is_plain; }

JpegIndexUse JpegDecoder::index_use() const { return state_->index_use; }

const std::string& JpegDecoder::warning() const {
  static const std::string none;
  return state_->is_plain ? none : state_->reference.warning();
}

}  // namespace infeed
