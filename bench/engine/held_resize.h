#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "preprocess/resize/sink.h"

namespace infeed {

// Drops the decoder's rows: to measure the decode alone.
class NoResize final : public ResizeSink {
 public:
  void Aim(std::span<std::uint32_t> /*destination*/, bool /*flip*/,
           const std::optional<ResizeSides>& /*sides*/) override {}
  void Begin(int width, int /*height*/) override {
    stride_ = std::ptrdiff_t{3} * width;
    band_.resize(static_cast<std::size_t>(stride_ * kMaxRows));
  }
  RgbRows Next(int /*rows*/) override { return {band_.data(), stride_}; }
  void Filled() override {}
  [[nodiscard]] bool is_complete() const override { return true; }
  [[nodiscard]] std::chrono::steady_clock::duration busy() const override {
    return {};
  }

 private:
  std::vector<std::uint8_t> band_;
  std::ptrdiff_t stride_ = 0;
};

// A resize's input window and parameters.
struct HeldWindow {
  RgbImage image = {};
  bool flip = false;
  std::optional<ResizeSides> sides = {};
};

// Stores the decoder's rows, without resizing, in a window that the caller
// owns.
class KeepWindow final : public ResizeSink {
 public:
  explicit KeepWindow(HeldWindow& window)
      : window_(window), sink_(window.image) {}

  void Aim(std::span<std::uint32_t> /*destination*/, bool flip,
           const std::optional<ResizeSides>& sides) override {
    window_.flip = flip;
    window_.sides = sides;
  }
  void Begin(int width, int height) override { sink_.Begin(width, height); }
  RgbRows Next(int rows) override { return sink_.Next(rows); }
  void Filled() override { sink_.Filled(); }
  [[nodiscard]] bool is_complete() const override { return true; }
  [[nodiscard]] std::chrono::steady_clock::duration busy() const override {
    return {};
  }

 private:
  HeldWindow& window_;
  ImageSink sink_;
};

}  // namespace infeed
