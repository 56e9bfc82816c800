#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/optimizer/optimizer.h"

namespace infeed {

// One pass over the elements of all parameters in the CPU's memory, shared
// among LibTorch's threads in stretches. It reads and writes every element
// once; a sequence of LibTorch's kernels would do so in each kernel. One thread
// at a time.
class OptimizerPass {
 public:
  // A part of one parameter's memory: a unit of parallel work.
  struct Stretch {
    std::size_t parameter = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  explicit OptimizerPass(const std::vector<OptimizedParameter>& parameters);

  // Calls work for each stretch and keeps the results.
  void Run(const std::function<double(const Stretch&)>& work);

  // The sums of these results, in an order that does not depend on the threads.
  [[nodiscard]] double Sum() const;
  [[nodiscard]] std::vector<double> SumsByParameter() const;

 private:
  std::size_t parameters_;
  std::vector<Stretch> stretches_;
  std::vector<double> results_;
};

// Whether a pass can update the parameters: all are in the CPU's memory, and
// kernels is not kLibrary.
[[nodiscard]] bool CanPass(const std::vector<OptimizedParameter>& parameters,
                           Kernels kernels);

}  // namespace infeed
