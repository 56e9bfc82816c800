#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace infeed {

// A model's predictions for the images of a batch.
struct Predictions {
  // The classes with the highest logits, [size, top], ties in the order of the
  // index, and their probabilities, softmax in float32.
  int top = 0;  // 5, or the number of classes if that is less
  std::vector<std::int32_t> classes = {};
  std::vector<float> probabilities = {};
  // The cross-entropy of each slot against its label; unspecified where that is
  // not a class.
  std::vector<float> losses = {};
  // The labels (from 0) and weights of the batch; 0 for a slot without an
  // image.
  std::vector<std::int32_t> labels = {};
  std::vector<float> weights = {};

  [[nodiscard]] int size() const { return static_cast<int>(labels.size()); }
  [[nodiscard]] std::span<const std::int32_t> classes_of(int slot) const {
    return std::span(classes).subspan(Offset(slot),
                                      static_cast<std::size_t>(top));
  }
  [[nodiscard]] std::span<const float> probabilities_of(int slot) const {
    return std::span(probabilities)
        .subspan(Offset(slot), static_cast<std::size_t>(top));
  }

 private:
  [[nodiscard]] std::size_t Offset(int slot) const {
    return static_cast<std::size_t>(slot) * static_cast<std::size_t>(top);
  }
};

// Called with the predictions of each batch, in order.
using PredictionSink = std::function<void(const Predictions&)>;

}  // namespace infeed
