#include <utility>

#include "base/error.h"
#include "preprocess/jpeg.h"
#include "preprocess/jpeg_reference.h"

namespace infeed {

struct JpegDecoder::State {
  State(const JpegLimits& limits, JpegWarnings warnings)
      : reference(limits, warnings) {}

  ReferenceJpegDecoder reference;
  JpegInfo info = {};
};

JpegDecoder::JpegDecoder(const JpegLimits& limits, JpegWarnings warnings)
    : state_(std::make_unique<State>(limits, warnings)) {}
JpegDecoder::~JpegDecoder() = default;
JpegDecoder::JpegDecoder(JpegDecoder&&) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&&) noexcept = default;

JpegInfo JpegDecoder::ReadHeader(std::span<const std::byte> bytes) {
  state_->info = state_->reference.ReadHeader(bytes);
  return state_->info;
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

void JpegDecoder::DecodeWindow(const Window& window, RowSink& sink) {
  state_->reference.DecodeWindow(window, sink);
}

void JpegDecoder::DecodeScaled(int eighths, RgbImage& image) {
  ImageSink sink(image);
  state_->reference.DecodeScaled(eighths, sink);
}

const std::string& JpegDecoder::warning() const {
  return state_->reference.warning();
}

}  // namespace infeed
