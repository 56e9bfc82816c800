#include "trainer/formats/model_graph.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/random_weights.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

const ModelOptions kLeNetOptions = {.kind = ModelKind::kLeNet,
                                    .num_classes = 10};
const GraphInput kPixels = {.image_size = 28,
                            .statistics = {{0, 0, 0}, {2, 3, 4}}};

TEST(ModelGraphTest, NamesAWeightThatDoesNotFit) {
  TensorMap weights = RandomWeights(kLeNetOptions);
  const auto build = [&] { (void)BuildGraph(kLeNetOptions, weights, kPixels); };
  weights["fc3.bias"] = FloatTensor({1, 2});
  EXPECT_EQ(MessageOf<DataError>(build),
            "the tensor fc3.bias is not float32 of [10]: its shape is [2]");
  weights.erase("conv2.bias");
  EXPECT_THAT(MessageOf<DataError>(build), HasSubstr("conv2.bias"));
}

TEST(ModelGraphTest, TakesOnlyWhatTheNetworkUses) {
  const ModelOptions options = {.depth = 18, .num_classes = 3};
  TensorMap weights = RandomWeights(options);
  const InferenceGraph graph =
      BuildGraph(options, weights, {.statistics = {{1, 2, 3}, {4, 5, 6}}});
  EXPECT_FALSE(graph.weights.contains("bn1.num_batches_tracked"));
  EXPECT_EQ(graph.weights.at("conv1.weight"), weights.at("conv1.weight"));
  EXPECT_EQ(graph.weights.at("normalization.std"),
            FloatTensor({4, 5, 6}, {3, 1, 1}));
  EXPECT_EQ(graph.nodes.back().output, graph.output);
  EXPECT_EQ(
      std::ranges::count(graph.nodes, GraphOp::kConvolution, &GraphNode::op),
      20);
}

TEST(ModelGraphTest, GraphsBecomeTorchScript) {
  const std::string text = TorchScriptSource(
      BuildGraph(kLeNetOptions, RandomWeights(kLeNetOptions), kPixels));
  // A mean of 0 is not subtracted.
  EXPECT_THAT(text, HasSubstr("def forward(self, images: Tensor) -> Tensor:\n"
                              "  v1 = images / getattr(getattr(self, "
                              "\"normalization\"), \"std\")\n"
                              "  v2 = torch.conv2d(v1, "));
  EXPECT_THAT(text, HasSubstr("[1, 1], [2, 2], [1, 1], 1)"));
}

}  // namespace
}  // namespace infeed
