#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>
#include <string>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <fmt/format.h>

#include "records/bytes/byte_size.h"
#include "trainer/loop/gpu_cards.h"

namespace infeed {
namespace {

// The oldest compute capability that the code is compiled for.
constexpr int kLeastMajor = 8;

// "2.30.7" for NCCL's 23007.
std::string NcclVersionText(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100,
                     version % 100);
}

Finding Versions() {
  int driver = 0;
  int runtime = 0;
  int nccl = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 where there is no driver.
  (void)cudaRuntimeGetVersion(&runtime);
  (void)ncclGetVersion(&nccl);
  const bool old = driver > 0 && driver / 1000 < CUDART_VERSION / 1000;
  return {"CUDA",
          fmt::format("driver for {}, runtime {}, built with {}, NCCL {}",
                      driver > 0 ? CudaVersionText(driver) : "none",
                      CudaVersionText(runtime), CudaVersionText(CUDART_VERSION),
                      NcclVersionText(nccl)),
          driver == 0 ? "there is no NVIDIA driver: only --device cpu works"
          : old       ? "the driver is too old for this build: update it"
                      : ""};
}

Finding Card(int index) {
  cudaDeviceProp card = {};
  const std::string name = fmt::format("cuda:{}", index);
  const cudaError_t error = cudaGetDeviceProperties(&card, index);
  if (error != cudaSuccess) {
    return {name, "unknown", cudaGetErrorString(error)};
  }
  return {name,
          fmt::format(
              "{}, compute capability {}.{}, {}, {} multiprocessors", card.name,
              card.major, card.minor,
              MemorySizeText(static_cast<std::int64_t>(card.totalGlobalMem)),
              card.multiProcessorCount),
          card.major < kLeastMajor
              ? "this program has no code for it: build with "
                "INFEED_CUDA_ARCHITECTURES=native"
              : ""};
}

}  // namespace

void ReleaseCachedMemory() { c10::cuda::CUDACachingAllocator::emptyCache(); }

std::int64_t FreeCardMemory() {
  ReleaseCachedMemory();
  std::size_t free = 0;
  std::size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

std::string CudaVersionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::vector<Finding> CheckCards() {
  std::vector<Finding> findings = {Versions()};
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    count = 0;  // Without a driver the call fails.
  }
  for (int i = 0; i < count; ++i) {
    findings.push_back(Card(i));
  }
  return findings;
}

}  // namespace infeed
