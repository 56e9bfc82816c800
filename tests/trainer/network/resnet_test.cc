#include "trainer/network/resnet.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <torch/types.h>

#include "tests/support/golden_network.h"
#include "tests/support/torchvision_golden.h"
#include "trainer/loop/batch.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

std::shared_ptr<Network> ResNetOf(int depth, int classes,
                                  std::uint64_t seed = 0) {
  at::set_num_threads(2);
  return MakeResNet({.depth = depth, .num_classes = classes, .seed = seed});
}

// "NAME DIMxDIM" for each tensor of the state, by name.
std::vector<std::string> LayoutOf(const Network& model) {
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : StateOf(model)) {
    std::string line = name + " ";
    for (std::int64_t i = 0; i < tensor.dim(); ++i) {
      line += (i == 0 ? "" : "x") + std::to_string(tensor.size(i));
    }
    lines.push_back(line);
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

TEST(ResNetTest, Resnet18HasTorchvisionsNamesAndShapes) {
  EXPECT_EQ(LayoutOf(*ResNetOf(18, 1000)),
            TorchvisionGolden()["layout_18"].get<std::vector<std::string>>());
}

TEST(ResNetTest, HasTorchvisionsNamesShapesAndParameters) {
  for (const int depth : {18, 34, 50, 101, 152}) {
    SCOPED_TRACE(depth);
    const std::shared_ptr<Network> model = ResNetOf(depth, 1000);
    std::int64_t parameters = 0;
    for (const torch::Tensor& parameter : model->parameters()) {
      parameters += parameter.numel();
    }
    const nlohmann::json& golden =
        TorchvisionGolden()["layouts"][std::to_string(depth)];
    EXPECT_EQ(parameters, golden["parameters"].get<std::int64_t>());
    const std::vector<std::string> layout = LayoutOf(*model);
    EXPECT_EQ(layout.size(), golden["entries"].get<std::size_t>());
    EXPECT_EQ(Fnv1a(Joined(layout)), golden["fnv1a"].get<std::uint32_t>());
  }
}

TEST(ResNetTest, GivesTorchvisionsLogits) {
  const torch::NoGradGuard no_grad;
  const std::shared_ptr<Network> model = ResNetOf(18, kGoldenClasses);
  SetGoldenWeights(*model);
  Batch batch({.size = kGoldenBatch, .image_size = kGoldenSize});
  FillWithGolden(batch);
  model->eval();
  const torch::Tensor logits =
      model->Forward(BatchUnpacker(torch::kCPU, Normalization::kImagenet)
                         .Unpack(batch)
                         .images);
  const auto golden = TorchvisionGolden()["logits"].get<std::vector<double>>();
  ASSERT_EQ(static_cast<std::size_t>(logits.numel()), golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    EXPECT_NEAR(logits.contiguous().data_ptr<float>()[i], golden[i], 1e-4);
  }
}

TEST(ResNetTest, TakesImagesOfManySizes) {
  const std::shared_ptr<Network> model = ResNetOf(50, 7);
  model->eval();
  const torch::NoGradGuard no_grad;
  for (const std::int64_t side : {32, 64, 65, 224}) {
    EXPECT_EQ(model->Forward(torch::zeros({2, 3, side, side})).sizes(),
              at::IntArrayRef({2, 7}));
  }
}

TEST(ResNetTest, ConvolutionsStartWithOneOverTheRootOfFanIn) {
  for (const auto& [name, tensor] : StateOf(*ResNetOf(50, 1000))) {
    if (tensor.dim() == 4) {
      const double expected =
          std::sqrt(1.0 / static_cast<double>(tensor[0].numel()));
      const double uncut = expected / 0.87962566;
      // Five times what as many draws stray.
      const double tolerance =
          5 * expected / std::sqrt(2.0 * static_cast<double>(tensor.numel()));
      EXPECT_NEAR(tensor.std().item<double>(), expected, tolerance) << name;
      EXPECT_LE(tensor.abs().max().item<double>(), 2.0001 * uncut) << name;
      EXPECT_GT(tensor.abs().max().item<double>(), 1.95 * uncut) << name;
    }
  }
}

TEST(ResNetTest, BlocksStartAsTheirShortcut) {
  for (const auto& [name, tensor] : StateOf(*ResNetOf(18, 10))) {
    if (name.ends_with("bn2.weight")) {
      EXPECT_EQ(tensor.abs().max().item<float>(), 0) << name;
    } else if (name.ends_with("bn1.weight")) {
      EXPECT_EQ(tensor.min().item<float>(), 1) << name;
    }
  }
}

TEST(ResNetTest, TheClassifierStartsSmall) {
  const auto state = StateOf(*ResNetOf(50, 1000));
  EXPECT_NEAR(state.at("fc.weight").std().item<double>(), 0.01, 1e-4);
  EXPECT_EQ(state.at("fc.bias").abs().max().item<float>(), 0);
}

TEST(ResNetTest, WeightsAreAFunctionOfTheWholeSeed) {
  const std::uint64_t seed = (std::uint64_t{1} << 32) + 5;
  const auto weight = [](std::uint64_t of) {
    return StateOf(*ResNetOf(18, 10, of)).at("layer3.0.conv1.weight");
  };
  EXPECT_TRUE(weight(seed).equal(weight(seed)));
  EXPECT_FALSE(weight(seed).equal(weight(5)));
}

TEST(ResNetTest, TellsItsKindsOfParameters) {
  const std::shared_ptr<Network> model = ResNetOf(50, 1000);
  std::map<ParameterKind, std::int64_t> counts;
  for (const auto& entry : model->named_parameters()) {
    counts[model->KindOf(entry.key())] += entry.value().numel();
  }
  // The reference driver decays the first two.
  EXPECT_EQ(counts[ParameterKind::kWeight], 25503912 - 1000);
  EXPECT_EQ(counts[ParameterKind::kBias], 1000);
  EXPECT_EQ(counts[ParameterKind::kNorm], 53120);
}

}  // namespace
}  // namespace infeed
