#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/optimizer/optimizer.h"

namespace infeed {

// One pass over the elements of all parameters in the CPU's memory, shared
// among LibTorch's threads in stretches. Every element is read and written
// once, where a sequence of LibTorch's kernels would go over the memory for
// each. One thread at a time.
class OptimizerPass {
 public:
  // A stretch of one parameter's memory: a unit of parallel work.
  struct Stretch {
    std::size_t parameter = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  explicit OptimizerPass(const std::vector<OptimizedParameter>& parameters);

  // Calls work for each stretch and keeps the numbers that it returns.
  void Run(const std::function<double(const Stretch&)>& work);

  // Their sums, in one order whatever thread had which stretch.
  [[nodiscard]] double Sum() const;
  [[nodiscard]] std::vector<double> SumsByParameter() const;

 private:
  std::size_t parameters_;
  std::vector<Stretch> stretches_;
  std::vector<double> results_;
};

// Whether a pass can update them: they are all in the CPU's memory.
[[nodiscard]] bool CanPass(const std::vector<OptimizedParameter>& parameters,
                           Kernels kernels);

}  // namespace infeed
