#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "pipeline/memory/batch.h"

// The data of tests/data/make_torchvision_goldens.py, and its formulas.
namespace infeed {

inline const nlohmann::json& TorchvisionGolden() {
  static const nlohmann::json kGolden = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/torchvision_goldens.json"));
  return kGolden;
}

inline std::uint32_t Fnv1a(std::string_view text) {
  std::uint32_t value = 2166136261U;
  for (const char letter : text) {
    value = (value ^ static_cast<unsigned char>(letter)) * 16777619U;
  }
  return value;
}

// Multiples of 2^-16 in [-0.5, 0.5).
inline std::vector<float> GoldenNoise(std::string_view name,
                                      std::size_t count) {
  const std::uint32_t start = Fnv1a(name);
  std::vector<float> noise(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761U + start;
    x = (x ^ x >> 15) * 2246822519U;
    noise[i] = static_cast<float>(x >> 16) / 65536.0F - 0.5F;
  }
  return noise;
}

// A tensor of the golden model, row-major. prefix: of the name in the formula.
inline std::vector<float> GoldenWeight(const std::string& name,
                                       const std::vector<std::int64_t>& shape,
                                       const std::string& prefix = "") {
  const std::int64_t count = std::accumulate(
      shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  float base = 0;
  float scale = 0.25F;
  if (name == "fc.weight") {
    scale = 1.0F / 64;
  } else if (shape.size() > 1) {
    const double fan_in = static_cast<double>(count / shape[0]);
    scale = std::exp2(
        std::nearbyint(static_cast<float>(std::log2(std::sqrt(24 / fan_in)))));
  } else if (name.ends_with("running_var") || name.ends_with("weight")) {
    base = 1;
    scale = 0.5F;
  }
  std::vector<float> values =
      GoldenNoise(prefix + name, static_cast<std::size_t>(count));
  for (float& value : values) {
    value = base + value * scale;
  }
  return values;
}

// The class weights of make_step_loss_goldens.py; the first one is 0.
inline std::vector<double> GoldenClassWeights(std::size_t classes) {
  std::vector<double> weights;
  for (const float value : GoldenNoise("class weights", classes)) {
    weights.push_back(weights.empty() ? 0 : value + 0.5);
  }
  return weights;
}

constexpr int kGoldenBatch = 8;
constexpr int kGoldenSize = 64;
constexpr int kGoldenClasses = 10;

// The golden batch; its last slot has weight 0.
inline void FillWithGolden(Batch& batch) {
  const std::vector<float> noise =
      GoldenNoise("pixels", batch.pixels().size() * 3);
  const auto level = [&](std::size_t i) {
    return static_cast<std::uint32_t>((noise[i] + 0.5F) * 256);
  };
  for (std::size_t i = 0; i < batch.pixels().size(); ++i) {
    batch.pixels()[i] =
        level(3 * i) << 24 | level(3 * i + 1) << 16 | level(3 * i + 2) << 8;
  }
  for (int slot = 0; slot < batch.size(); ++slot) {
    const auto index = static_cast<std::size_t>(slot);
    batch.labels()[index] = slot * 3 % kGoldenClasses;
    batch.weights()[index] = slot + 1 < batch.size() ? 1 : 0;
  }
}

}  // namespace infeed
