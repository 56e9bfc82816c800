// Exported networks run by OpenCV's dnn module and as TorchScript, beside the
// network itself.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <opencv2/dnn.hpp>
#include <torch/script.h>

#include "tests/support/model_variants.h"
#include "tests/support/random_weights.h"
#include "trainer/formats/model_graph.h"
#include "trainer/loop/exporter.h"
#include "trainer/network/network.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kBatch = 5;

torch::Tensor RandomPixels(const ImageSize& size) {
  return torch::randint(0, 256, {kBatch, 3, size.height, size.width},
                        at::make_generator<at::CPUGeneratorImpl>(1),
                        torch::kFloat);
}

// A network with the weights, to be evaluated.
std::shared_ptr<Network> NetworkWith(const ModelOptions& options,
                                     const TensorMap& weights) {
  const torch::NoGradGuard no_grad;
  std::shared_ptr<Network> network = MakeNetwork(options);
  const auto copy = [&](const auto& entry) {
    if (entry.value().scalar_type() == torch::kFloat) {
      HostTensor from = weights.at(entry.key());
      torch::Tensor to = entry.value();
      to.copy_(torch::from_blob(from.bytes.data(), from.shape, torch::kFloat));
    }
  };
  std::ranges::for_each(network->named_parameters(), copy);
  std::ranges::for_each(network->named_buffers(), copy);
  network->eval();
  return network;
}

torch::Tensor OurLogits(Network& network, const torch::Tensor& pixels) {
  const torch::NoGradGuard no_grad;
  const auto channels = [&](const std::array<float, 3>& values) {
    return torch::tensor(at::ArrayRef<float>(values))
        .narrow(0, 0, pixels.size(1))
        .reshape({-1, 1, 1});
  };
  return network.Forward((pixels - channels(kImagenetStatistics.mean)) /
                         channels(kImagenetStatistics.std));
}

torch::Tensor TorchScriptLogits(const std::string& bytes,
                                const torch::Tensor& pixels) {
  const torch::NoGradGuard no_grad;
  std::istringstream stream(bytes);
  return torch::jit::load(stream).forward({pixels}).toTensor();
}

torch::Tensor OpenCvLogits(const std::string& onnx,
                           const torch::Tensor& pixels) {
  cv::dnn::Net net =
      cv::dnn::readNetFromONNX(std::vector<uchar>(onnx.begin(), onnx.end()));
  const torch::Tensor dense = pixels.contiguous();
  const std::vector<int> sizes(dense.sizes().begin(), dense.sizes().end());
  net.setInput(cv::Mat(sizes, CV_32F, dense.data_ptr()));
  cv::Mat logits = net.forward();
  return torch::from_blob(logits.data, {logits.size[0], logits.size[1]},
                          torch::kFloat)
      .clone();
}

float Difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<float>();
}

class ExportedModelTest : public testing::TestWithParam<ModelVariantCase> {};

TEST_P(ExportedModelTest, GivesOurLogits) {
  at::set_num_threads(2);
  const auto& [name, options, side] = GetParam();
  const TensorMap weights = RandomWeights(options);
  const InferenceGraph graph =
      BuildGraph(options, weights, {.image_size = side});
  const torch::Tensor colors = RandomPixels(side);
  const torch::Tensor taken =
      torch::cat({colors, colors}, 1).narrow(1, 0, graph.channels);
  const torch::Tensor ours =
      OurLogits(*NetworkWith(options, weights),
                colors.narrow(1, 0, std::min(graph.channels, 3)));
  ASSERT_GT(ours.std().item<float>(), 0.01);
  EXPECT_LT(Difference(TorchScriptLogits(TorchScriptBytes(graph), taken), ours),
            1e-4);
  EXPECT_LT(Difference(OpenCvLogits(OnnxBytes(graph), taken.narrow(0, 0, 1)),
                       ours.narrow(0, 0, 1)),
            1e-4);
  // OpenCV 4.6 takes the excitation's first dimension for constant: an open
  // batch is then one image.
  const int batch = options.se_ratio > 0 || options.eca ? kBatch : 0;
  EXPECT_LT(
      Difference(OpenCvLogits(OnnxBytes(graph, {.batch_size = batch}), taken),
                 ours),
      1e-4);
}

// The stem's maps have an odd side and an even one, or two even ones: the
// padding of the reference's pool differs by side.
TEST(ExportedSizeTest, GivesOurLogitsForImagesThatAreNotSquare) {
  at::set_num_threads(2);
  for (const ModelVariant variant :
       {ModelVariant::kTpu, ModelVariant::kTorchvision}) {
    const ModelOptions options = {
        .variant = variant, .depth = 18, .num_classes = 7};
    const TensorMap weights = RandomWeights(options);
    const std::shared_ptr<Network> network = NetworkWith(options, weights);
    for (const ImageSize size : {ImageSize(40, 58), ImageSize(50, 36)}) {
      const InferenceGraph graph =
          BuildGraph(options, weights, {.image_size = size});
      const torch::Tensor pixels = RandomPixels(size);
      const torch::Tensor ours = OurLogits(*network, pixels);
      ASSERT_GT(ours.std().item<float>(), 0.01);
      EXPECT_LT(
          Difference(TorchScriptLogits(TorchScriptBytes(graph), pixels), ours),
          1e-4)
          << size;
      EXPECT_LT(Difference(OpenCvLogits(OnnxBytes(graph), pixels), ours), 1e-4)
          << size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, ExportedModelTest,
                         testing::ValuesIn(ModelVariantCases()),
                         [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace infeed
