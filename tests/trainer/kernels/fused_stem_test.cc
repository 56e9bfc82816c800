// Networks whose norms and stem run our kernels, against the same networks of
// LibTorch's modules; on a CPU by kernels that are compiled for it.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <torch/types.h>

#include "tests/support/device_array.h"
#include "trainer/cuda/image_tensors.h"
#include "trainer/loop/device.h"
#include "trainer/network/network.h"

#include "gtest/gtest.h"

#ifdef INFEED_CUDA_ON_CPU
#include "tests/support/cudnn_on_cpu.h"

// Takes the place of the one that asks for a GPU.
bool infeed::HasKernels(const torch::Tensor& images) {
  return images.numel() > 0;
}
#endif

namespace infeed::fused_stem_test {

#ifdef INFEED_CUDA_ON_CPU
constexpr c10::DeviceType kDevice = torch::kCPU;
#else
constexpr c10::DeviceType kDevice = torch::kCUDA;
#endif

struct Case {
  std::string name;
  ModelVariant variant = ModelVariant::kTorchvision;
  int side = 64;  // an odd one has other padding
  Precision precision = Precision::kFloat32;
  // Of the difference's length to the tensor's. Rounding to 16 bits grows
  // through all layers back to the stem; unrelated gradients differ by 1.4.
  double tolerance = 1e-2;
  ConvStatistics statistics = ConvStatistics::kPass;
  bool zero_gamma = true;  // then the branches of blocks have no gradients
};

class FusedStemTest : public DeviceTest,
                      public testing::WithParamInterface<Case> {
 protected:
  static std::shared_ptr<Network> MakeOnDevice(bool fused) {
    at::globalContext().setAllowTF32CuDNN(false);
    auto network = MakeNetwork({.variant = GetParam().variant,
                                .depth = 18,
                                .num_classes = 3,
                                .zero_gamma = GetParam().zero_gamma,
                                // On the CPU a launch runs several times.
                                .bn_momentum = 0,
                                .fused_batch_norm = fused,
                                .conv_statistics = GetParam().statistics});
    network->to(kDevice);
    network->SetStep(0);
    return network;
  }

  static torch::Tensor Logits(Network& network, Precision precision) {
    torch::manual_seed(1);
    const torch::Tensor images =
        torch::randn({4, 3, GetParam().side, GetParam().side})
            .contiguous(at::MemoryFormat::ChannelsLast)
            .to(kDevice);
    const AutocastScope autocast(kDevice, precision);
    return network.Forward(images);
  }

#ifdef INFEED_CUDA_ON_CPU
  // How many of cuDNN's graphs run in a training pass: of all convolutions but
  // the stem's, whose images are float32 here.
  static std::map<std::string, int> GraphsOf(ConvStatistics statistics) {
    switch (statistics) {
      case ConvStatistics::kPass:
        return {};
      case ConvStatistics::kEpilogue:
        return {{ "sums", 19 }};
      case ConvStatistics::kFused:  // the second ones of 8 blocks
        break;
    }
    return {{"sums", 11}, {"normed", 8}, {"weight gradient", 8}, {
              "input gradient",
              8
            }};
  }
#endif

  // Runs a training pass: the logits, the gradients of all parameters, and the
  // moving statistics.
  static std::vector<torch::Tensor> Train(Network& network,
                                          Precision precision) {
    const torch::Tensor logits = Logits(network, precision).to(torch::kFloat);
    logits.square().sum().backward();
    std::vector<torch::Tensor> found = {logits.detach()};
    for (const torch::Tensor& parameter : network.parameters()) {
      found.push_back(parameter.grad());
    }
    for (const torch::Tensor& buffer : network.buffers()) {
      found.push_back(buffer);
    }
    return found;
  }

  static void ExpectNear(const torch::Tensor& found,
                         const torch::Tensor& expected) {
    const auto length = [](const torch::Tensor& tensor) {
      return tensor.to(torch::kCPU, torch::kDouble).norm().item<double>();
    };
    EXPECT_LE(length(found - expected),
              GetParam().tolerance * length(expected) + 1e-6);
  }
};

TEST_P(FusedStemTest, TrainsAndEvaluatesAsTheModules) {
  const std::shared_ptr<Network> fused = MakeOnDevice(true);
  const std::shared_ptr<Network> plain = MakeOnDevice(false);
#ifdef INFEED_CUDA_ON_CPU
  ResetCudnn();
#endif
  const std::vector<torch::Tensor> found = Train(*fused, GetParam().precision);
#ifdef INFEED_CUDA_ON_CPU
  EXPECT_EQ(CallsOfCudnn().graphs, GraphsOf(GetParam().statistics));
#endif
  // LibTorch's modules have no float16 on a CPU.
  const Precision of_modules = GetParam().precision == Precision::kFloat16
                                   ? Precision::kFloat32
                                   : GetParam().precision;
  const std::vector<torch::Tensor> expected = Train(*plain, of_modules);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("tensor " + std::to_string(i));
    ExpectNear(found[i], expected[i]);
  }
  // With the moving statistics of that pass.
  const torch::NoGradGuard no_grad;
  fused->eval();
  plain->eval();
  ExpectNear(Logits(*fused, of_modules), Logits(*plain, of_modules));
}

#ifdef INFEED_CUDA_ON_CPU
// Of two in each of 16 blocks: the last 9 blocks have DropBlock.
TEST(HandedNormTest, NormsBeforeOtherOperationsAreNotHandedOn) {
  const auto network =
      MakeNetwork({.depth = 50,
                   .num_classes = 3,
                   .small_stem = true,
                   .drop_block = {.groups = {3, 4}, .keep_prob = 0.9},
                   .fused_batch_norm = true,
                   .conv_statistics = ConvStatistics::kFused});
  network->SetStep(0);
  ResetCudnn();
  const AutocastScope autocast(torch::kCPU, Precision::kFloat16);
  const auto normed = [&] {
    static_cast<void>(network->Forward(torch::rand({2, 3, 16, 16})));
    return CallsOfCudnn().graphs.contains("normed")
               ? CallsOfCudnn().graphs.at("normed")
               : 0;
  };
  EXPECT_EQ(normed(), 14);
  ResetCudnn();
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(normed(), 0);
}
#endif

INSTANTIATE_TEST_SUITE_P(
    All, FusedStemTest,
    testing::Values(Case{"Torchvision"},
                    Case{"TorchvisionOddSide", ModelVariant::kTorchvision, 65},
                    Case{"Tpu", ModelVariant::kTpu},
                    Case{"TpuOddSide", ModelVariant::kTpu, 65},
                    Case{"TorchvisionBfloat16", ModelVariant::kTorchvision, 64,
                         Precision::kBfloat16, 0.5},
                    Case{"TorchvisionSummed", ModelVariant::kTorchvision, 64,
                         Precision::kBfloat16, 0.5, ConvStatistics::kEpilogue},
                    Case{"TorchvisionNormed", ModelVariant::kTorchvision, 64,
                         Precision::kFloat16, 0.3, ConvStatistics::kFused,
                         /*zero_gamma=*/false}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace infeed::fused_stem_test
