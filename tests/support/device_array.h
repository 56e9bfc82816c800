#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"

namespace infeed {

// Memory of a GPU, exactly as long as its elements, so that compute-sanitizer
// sees what goes beyond; or of the CPU that runs kernels (cuda_on_cpu.h).
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values)
      : DeviceArray(values.size()) {
    Copy(data_, values.data(), cudaMemcpyHostToDevice);
  }
  // Poisoned: every byte is 0xCD.
  explicit DeviceArray(std::size_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(&data_, Bytes()), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0xCD, Bytes()), cudaSuccess);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }

  // Waits for the device's work.
  [[nodiscard]] std::vector<T> Values() const {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::vector<T> values(size_);
    Copy(values.data(), data_, cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  [[nodiscard]] std::size_t Bytes() const { return size_ * sizeof(T); }
  void Copy(void* to, const void* from, cudaMemcpyKind kind) const {
    EXPECT_EQ(cudaMemcpy(to, from, Bytes(), kind), cudaSuccess);
  }

  std::size_t size_;
  void* data_ = nullptr;
};

// Floats are in [-0.5, 0.6).
template <typename T>
std::vector<T> Draw(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(random()) / 4e9F - 0.5F;
    } else {
      value = static_cast<T>(random());
    }
  }
  return values;
}

// A test of kernels; skipped where there is no GPU.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no GPU: " << cudaGetErrorString(error);
    }
  }
};

}  // namespace infeed
