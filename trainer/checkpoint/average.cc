#include "trainer/checkpoint/average.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "trainer/checkpoint/checkpoint.h"

namespace infeed {
namespace {

using Steps = std::vector<std::int64_t>;

std::string ErrorOf(int count, const std::string& model_dir,
                    const std::string& what) {
  return fmt::format("average_checkpoints={}: model_dir={}: {}", count,
                     model_dir, what);
}

Steps LastSteps(const std::string& model_dir, std::int64_t last_step,
                int count) {
  Steps steps = ListCheckpoints(model_dir);
  std::erase_if(steps, [&](std::int64_t step) { return step > last_step; });
  const auto wanted = static_cast<std::size_t>(count);
  if (steps.size() < wanted) {
    throw UsageError(ErrorOf(
        count, model_dir,
        fmt::format("it has only {} up to step {}: {}", steps.size(), last_step,
                    steps.empty()
                        ? "none"
                        : fmt::format("{}", fmt::join(steps, ", ")))));
  }
  return {steps.end() - count, steps.end()};
}

// The name of the first tensor in which the two differ in name, type or shape;
// empty: none.
std::string FirstOther(const TensorMap& one, const TensorMap& other) {
  const auto is_same = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.type == b.second.type &&
           a.second.shape == b.second.shape;
  };
  const auto [in_one, in_other] = std::mismatch(
      one.begin(), one.end(), other.begin(), other.end(), is_same);
  return in_one != one.end()       ? in_one->first
         : in_other != other.end() ? in_other->first
                                   : "";
}

float ReadFloat(const HostTensor& tensor, std::size_t i) {
  float value = 0;
  std::memcpy(&value, &tensor.bytes[i * sizeof(float)], sizeof(float));
  return value;
}

std::size_t FloatsOf(const HostTensor& tensor) {
  return tensor.type == DataType::kFloat32 ? tensor.bytes.size() / sizeof(float)
                                           : 0;
}

class FloatSums {
 public:
  void Add(const TensorMap& tensors) {
    for (const auto& [name, tensor] : tensors) {
      std::vector<double>& sums = sums_[name];
      sums.resize(FloatsOf(tensor));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += ReadFloat(tensor, i);
      }
    }
  }

  void WriteMeans(int count, TensorMap& tensors) const {
    for (auto& [name, tensor] : tensors) {
      const std::vector<double>& sums = sums_.at(name);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto mean = static_cast<float>(sums[i] / count);
        std::memcpy(&tensor.bytes[i * sizeof(float)], &mean, sizeof(float));
      }
    }
  }

 private:
  std::map<std::string, std::vector<double>> sums_;
};

}  // namespace

AveragedWeights AverageCheckpoints(const std::string& model_dir,
                                   std::int64_t last_step, int count) {
  AveragedWeights average = {.weights = {},
                             .steps = LastSteps(model_dir, last_step, count)};
  FloatSums sums;
  for (const std::int64_t step : average.steps) {
    TensorMap weights = LoadCheckpoint(model_dir, step).state.model;
    if (!average.weights.empty()) {
      const std::string name = FirstOther(average.weights, weights);
      if (!name.empty()) {
        throw UsageError(
            ErrorOf(count, model_dir,
                    fmt::format("the tensor {} of step {} is not that of the "
                                "checkpoint before: they are different models",
                                name, step)));
      }
    }
    sums.Add(weights);
    average.weights = std::move(weights);
  }
  sums.WriteMeans(count, average.weights);
  return average;
}

}  // namespace infeed
