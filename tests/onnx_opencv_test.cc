// Exported networks run by OpenCV's dnn module beside LibTorch.

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <opencv2/dnn.hpp>
#include <torch/script.h>

#include "tests/support/model_variants.h"
#include "tests/support/random_weights.h"
#include "trainer/model_graph.h"
#include "trainer/onnx_file.h"
#include "trainer/torch_script.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// Pixels of 0 to 255, [batch, channels, side, side].
std::vector<float> RandomPixels(int batch, const InferenceGraph& graph) {
  std::mt19937 random(1);
  std::vector<float> pixels(static_cast<std::size_t>(batch) * graph.channels *
                            graph.side * graph.side);
  std::ranges::generate(pixels,
                        [&] { return static_cast<float>(random() % 256); });
  return pixels;
}

std::vector<float> OpenCvLogits(const std::string& onnx,
                                const InferenceGraph& graph, int batch,
                                std::vector<float> pixels) {
  cv::dnn::Net net =
      cv::dnn::readNetFromONNX(std::vector<uchar>(onnx.begin(), onnx.end()));
  const int sizes[] = {batch, graph.channels, graph.side, graph.side};
  net.setInput(cv::Mat(4, sizes, CV_32F, pixels.data()));
  const cv::Mat logits = net.forward();
  return {logits.begin<float>(), logits.end<float>()};
}

std::vector<float> TorchScriptLogits(const InferenceGraph& graph, int batch,
                                     std::vector<float> pixels) {
  std::istringstream stream(TorchScriptBytes(graph));
  torch::jit::Module module = torch::jit::load(stream);
  const torch::NoGradGuard no_grad;
  const torch::Tensor logits =
      module
          .forward({torch::from_blob(
              pixels.data(), {batch, graph.channels, graph.side, graph.side},
              torch::kFloat)})
          .toTensor()
          .contiguous();
  return {logits.data_ptr<float>(), logits.data_ptr<float>() + logits.numel()};
}

class OnnxOpenCvTest : public testing::TestWithParam<ModelVariantCase> {};

TEST_P(OnnxOpenCvTest, GivesOurLogits) {
  const auto& [name, options, side] = GetParam();
  const InferenceGraph graph = GraphOf(options, RandomWeights(options),
                                       {.side = side,
                                        .mean = {123.675, 116.28, 103.53},
                                        .std = {58.395, 57.12, 57.375}});
  for (const auto& [fixed, batch] : {std::pair(0, 1), {0, 5}, {3, 3}}) {
    const std::vector<float> pixels = RandomPixels(batch, graph);
    const std::vector<float> ours = TorchScriptLogits(graph, batch, pixels);
    const std::vector<float> theirs = OpenCvLogits(
        OnnxBytes(graph, {.batch_size = fixed}), graph, batch, pixels);
    ASSERT_EQ(ours.size(), theirs.size());
    float difference = 0;
    float largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      difference = std::max(difference, std::abs(ours[i] - theirs[i]));
      largest = std::max(largest, std::abs(ours[i]));
    }
    EXPECT_LT(difference, 1e-4);
    EXPECT_GT(largest, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, OnnxOpenCvTest,
                         testing::ValuesIn(ModelVariantCases()),
                         [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace infeed
