// ONNX's own checker and shape inference, of the library that other programs
// use. A program without LibTorch, which may bring another such library.

#include <string>

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include "tests/support/model_variants.h"
#include "tests/support/random_weights.h"
#include "trainer/formats/model_graph.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

class OnnxCheckerTest : public testing::TestWithParam<ModelVariantCase> {};

// The output's shape that the checker infers, [dim, dim]; a dimension's name if
// it has one.
std::string OutputShape(::onnx::ModelProto& model) {
  ::onnx::shape_inference::InferShapes(
      model, ::onnx::OpSchemaRegistry::Instance(),
      ::onnx::ShapeInferenceOptions(/*check_type=*/true, /*strict_mode=*/1));
  std::string text;
  for (const auto& dim :
       model.graph().output(0).type().tensor_type().shape().dim()) {
    text += (text.empty() ? "" : " ") + (dim.has_dim_value()
                                             ? std::to_string(dim.dim_value())
                                             : dim.dim_param());
  }
  return text;
}

TEST_P(OnnxCheckerTest, FindsNothingWrong) {
  const auto& [name, options, side] = GetParam();
  const InferenceGraph graph =
      BuildGraph(options, RandomWeights(options),
                 {.image_size = side, .statistics = {{1, 2, 3}, {4, 5, 6}}});
  for (const int batch : {0, 5}) {
    ::onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(
        OnnxBytes(graph, {.batch_size = batch, .metadata = {{"a", "b"}}})));
    EXPECT_NO_THROW(::onnx::checker::check_model(model));
    EXPECT_EQ(OutputShape(model),
              (batch == 0 ? "N " : "5 ") + std::to_string(options.num_classes));
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, OnnxCheckerTest,
                         testing::ValuesIn(ModelVariantCases()),
                         [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace infeed
