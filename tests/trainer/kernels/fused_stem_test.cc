// Networks whose norms and stem run our kernels, against the same networks of
// LibTorch's modules; on a CPU by kernels that are compiled for it.
#include <cuda_runtime_api.h>

#include <cstddef>
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
};

class FusedStemTest : public DeviceTest,
                      public testing::WithParamInterface<Case> {
 protected:
  static std::shared_ptr<Network> MakeOnDevice(bool fused) {
    at::globalContext().setAllowTF32CuDNN(false);
    auto network = MakeNetwork({.variant = GetParam().variant,
                                .depth = 18,
                                .num_classes = 3,
                                // On the CPU a launch runs several times.
                                .bn_momentum = 0,
                                .fused_batch_norm = fused,
                                .conv_statistics = GetParam().statistics});
    network->to(kDevice);
    network->SetStep(0);
    return network;
  }

  static torch::Tensor Logits(Network& network) {
    torch::manual_seed(1);
    const torch::Tensor images =
        torch::randn({4, 3, GetParam().side, GetParam().side})
            .contiguous(at::MemoryFormat::ChannelsLast)
            .to(kDevice);
    const AutocastScope autocast(kDevice, GetParam().precision);
    return network.Forward(images);
  }

  // Runs a training pass: the logits, the gradients of all parameters, and the
  // moving statistics.
  static std::vector<torch::Tensor> Train(Network& network) {
    const torch::Tensor logits = Logits(network).to(torch::kFloat);
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
  const std::vector<torch::Tensor> found = Train(*fused);
#ifdef INFEED_CUDA_ON_CPU
  // All convolutions but the stem's, whose images are float32 here.
  const bool are_summed = GetParam().statistics == ConvStatistics::kEpilogue;
  EXPECT_EQ(CallsOfCudnn().executed.size(), are_summed ? 19 : 0);
#endif
  const std::vector<torch::Tensor> expected = Train(*plain);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("tensor " + std::to_string(i));
    ExpectNear(found[i], expected[i]);
  }
  // With the moving statistics of that pass.
  const torch::NoGradGuard no_grad;
  fused->eval();
  plain->eval();
  ExpectNear(Logits(*fused), Logits(*plain));
}

INSTANTIATE_TEST_SUITE_P(
    All, FusedStemTest,
    testing::Values(Case{"Torchvision"},
                    Case{"TorchvisionOddSide", ModelVariant::kTorchvision, 65},
                    Case{"Tpu", ModelVariant::kTpu},
                    Case{"TpuOddSide", ModelVariant::kTpu, 65},
                    Case{"TorchvisionBfloat16", ModelVariant::kTorchvision, 64,
                         Precision::kBfloat16, 0.5},
                    Case{"TorchvisionSummed", ModelVariant::kTorchvision, 64,
                         Precision::kBfloat16, 0.5, ConvStatistics::kEpilogue}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace infeed::fused_stem_test
