#pragma once

#include <optional>

#include "preprocess/resize/sink.h"

namespace infeed {

// Drops the decoder's rows: to measure the decode alone.
class NoResize final : public ResizeSink {
 public:
  using ResizeSink::ResizeSink;

  void Begin(int width, int /*height*/) override {
    band_.SetWidth(width, 0);
    out_y_ = size_;  // complete
  }
  void Filled() override {}
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
  KeepWindow(int size, HeldWindow& window)
      : ResizeSink(size), window_(window), sink_(window.image) {}

  void Begin(int width, int height) override {
    window_.flip = flip_;
    window_.sides = sides_;
    sink_.Begin(width, height);
    out_y_ = size_;  // complete
  }
  RgbRows Next(int rows) override { return sink_.Next(rows); }
  void Filled() override { sink_.Filled(); }

 private:
  HeldWindow& window_;
  ImageSink sink_;
};

}  // namespace infeed
