#pragma once

#include <ATen/Context.h>
#include <torch/cuda.h>

#include "gtest/gtest.h"

namespace infeed {

// A test that needs a GPU, and skips where there is none; the GPU's results are
// the same in every run, in full float32.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) {
      GTEST_SKIP() << "no GPU here";
    }
    at::globalContext().setDeterministicCuDNN(true);
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
  }
};

}  // namespace infeed
