// Tests that the CPU finds errors of kernels (tests/support/cuda_on_cpu.h).
#include "tests/support/cuda_on_cpu.h"

#include <numeric>
#include <vector>

#include "tests/support/device_array.h"
#include "tests/support/matchers.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

void ExpectFailure(const std::string& why) {
  ASSERT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_THAT(cudaGetErrorString(cudaErrorLaunchFailure), HasSubstr(why));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// Each thread takes its neighbour's number.
template <bool kBarrier>
void ShiftKernel(const int* from, int* to) {
  static int shared[64];
  shared[threadIdx.x] = from[threadIdx.x];
  if (kBarrier) {
    __syncthreads();
  }
  to[threadIdx.x] = shared[(threadIdx.x + 1) % 64];
}

TEST(CudaOnCpuTest, RunsThreadsWithABarrierAndFindsAMissingOne) {
  std::vector<int> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 0);
  const DeviceArray<int> from(numbers);
  const DeviceArray<int> to(64);
  CudaLaunch(ShiftKernel<true>, 1, 64, 0, nullptr)(from.data(), to.data());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  std::rotate(numbers.begin(), numbers.begin() + 1, numbers.end());
  EXPECT_EQ(to.Values(), numbers);
  CudaLaunch(ShiftKernel<false>, 1, 64, 0, nullptr)(from.data(), to.data());
  ExpectFailure("the order of the threads changes the result");
}

void CountKernel(int* count) {
  *count = *count * 2 + static_cast<int>(blockIdx.x);
}

TEST(CudaOnCpuTest, FindsBlocksThatDependOnTheirOrder) {
  const DeviceArray<int> count(std::vector<int>{0});
  CudaLaunch(CountKernel, 3, 1, 0, nullptr)(count.data());
  ExpectFailure("the order of the threads changes the result");
}

TEST(CudaOnCpuTest, RunsOnceInOneOrder) {
  int count = 1;  // Not the device's memory.
  {
    const OneOrder one_order;
    CudaLaunch(CountKernel, 1, 1, 0, nullptr)(&count);
    EXPECT_EQ(count, 2);
  }
  CudaLaunch(CountKernel, 1, 1, 0, nullptr)(&count);
  EXPECT_EQ(count, 16);
}

void HalfWaitsKernel() {
  if (threadIdx.x < 32) {
    __syncthreads();
  }
}

TEST(CudaOnCpuTest, FindsABarrierThatNotAllReach) {
  CudaLaunch(HalfWaitsKernel, 2, 64, 0, nullptr)();
  ExpectFailure("threads wait at a barrier that others do not reach");
  CudaLaunch(HalfWaitsKernel, 2, 32, 0, nullptr)();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

void WriteKernel(char* to, int at) { to[at] = 1; }

TEST(CudaOnCpuTest, FindsAWriteOutside) {
  const DeviceArray<char> to(std::size_t{40});
  CudaLaunch(WriteKernel, 1, 1, 0, nullptr)(to.data(), 39);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  for (const int at : {-1, 40, 100}) {
    const DeviceArray<char> other(std::size_t{40});
    CudaLaunch(WriteKernel, 1, 1, 0, nullptr)(other.data(), at);
    ExpectFailure("a kernel wrote outside an allocation of 40 bytes");
  }
}

void SumKernel(const double* from, double* to) {
  const double sum = SumOfBlock(from[blockIdx.x * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) {
    to[blockIdx.x] = sum;
  }
}

TEST(CudaOnCpuTest, AddsUpABlockByWarps) {
  std::vector<double> numbers(2 * kThreads);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  const DeviceArray<double> from(numbers);
  const DeviceArray<double> to(2);
  CudaLaunch(SumKernel, 2, kThreads, 0, nullptr)(from.data(), to.data());
  CheckLaunch("SumKernel");
  EXPECT_THAT(to.Values(),
              ElementsAre(256 * 257 / 2, 256 * 256 + 256 * 257 / 2));
}

TEST(CudaOnCpuTest, RoundsToBfloat16) {
  EXPECT_EQ(__float2bfloat16_rn(1.0F).bits, 0x3F80);
  EXPECT_EQ(__float2bfloat16_rn(1.00390625F).bits, 0x3F80);  // A tie, to even.
  EXPECT_EQ(__float2bfloat16_rn(1.01171875F).bits, 0x3F82);
  EXPECT_EQ(__float2bfloat16_rn(NAN).bits, 0x7FFF);
}

TEST(CudaOnCpuTest, RoundsToFloat16) {
  const auto bits = [](float value) {
    return static_cast<int>(__float2half_rn(value).bits);
  };
  EXPECT_EQ(bits(1), 0x3C00);
  EXPECT_EQ(bits(-2), 0xC000);
  EXPECT_EQ(bits(1 + 0x1p-11F), 0x3C00);  // A tie, to even.
  EXPECT_EQ(bits(1 + 0x3p-11F), 0x3C02);
  EXPECT_EQ(bits(2 - 0x1p-12F), 0x4000);  // The fraction's carry.
  EXPECT_EQ(bits(65519), 0x7BFF);
  EXPECT_EQ(bits(65520), 0x7C00);
  EXPECT_EQ(bits(0x1p-24F), 1);
  EXPECT_EQ(bits(0x1p-25F), 0);
  EXPECT_EQ(bits(-0.F), 0x8000);
  EXPECT_EQ(bits(NAN), 0x7FFF);
  for (int all = 0; all < 0x7C00; ++all) {
    const auto value = ToFloat(Float16{static_cast<std::uint16_t>(all)});
    ASSERT_EQ(bits(value), all);
    ASSERT_EQ(bits(-value), all | 0x8000);
  }
}

}  // namespace
}  // namespace infeed
