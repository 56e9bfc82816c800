#include "trainer/optimizer/flat_weights.h"

#include <cstddef>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "trainer/optimizer/named_tensors.h"
#include "trainer/optimizer/optimizer.h"

#include "gtest/gtest.h"

namespace infeed::flat_weights_test {

torch::Tensor Waves(at::IntArrayRef shape, double frequency) {
  return (torch::arange(c10::multiply_integers(shape)) * frequency)
      .sin()
      .reshape(shape);
}

// A convolution's in channels_last order, a matrix, a bias that is not decayed:
// none a multiple of the alignment.
std::vector<OptimizedParameter> Parameters() {
  return {{.name = "conv",
           .weight = Waves({3, 5, 3, 3}, 0.3)
                         .contiguous(at::MemoryFormat::ChannelsLast)
                         .requires_grad_()},
          {.name = "fc.weight", .weight = Waves({7, 3}, 0.7).requires_grad_()},
          {.name = "fc.bias",
           .weight = Waves({7}, 0.1).requires_grad_(),
           .decayed = false}};
}

NamedTensors Named(const std::vector<OptimizedParameter>& parameters) {
  NamedTensors named;
  for (const OptimizedParameter& parameter : parameters) {
    named.emplace_back(parameter.name, parameter.weight);
  }
  return named;
}

// Each lies at its place in the order of its memory.
TEST(FlatWeightsTest, MovesTheWeightsAndNothingElse) {
  const std::vector<OptimizedParameter> moved = Parameters();
  const std::vector<OptimizedParameter> kept = Parameters();
  const FlatWeights flat(moved);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const FlatParameter place = flat.places()[i];
    EXPECT_TRUE(moved[i].weight.equal(kept[i].weight));
    EXPECT_EQ(moved[i].weight.strides(), kept[i].weight.strides());
    EXPECT_TRUE(moved[i].weight.requires_grad());
    EXPECT_TRUE(moved[i].weight.is_leaf());
    EXPECT_TRUE(moved[i].weight.is_alias_of(flat.flat()));
    EXPECT_EQ(place.begin % kFlatAlignment, 0);
    EXPECT_EQ(place.count, kept[i].weight.numel());
    EXPECT_EQ(place.decayed, kept[i].decayed);
    const torch::Tensor in_memory =
        kept[i].weight.detach().as_strided({place.count}, {1});
    EXPECT_TRUE(
        flat.flat().narrow(0, place.begin, place.count).equal(in_memory));
  }
}

TEST(FlatWeightsTest, ViewsOfAnotherStretchDoNotOverlap) {
  const std::vector<OptimizedParameter> parameters = Parameters();
  const FlatWeights flat(parameters);
  const torch::Tensor gradients = flat.Zeros();
  for (const torch::Tensor& view : flat.ViewsOf(gradients)) {
    torch::Tensor target = view;
    target.add_(1);
  }
  EXPECT_EQ(gradients.max().item<float>(), 1);
  EXPECT_EQ(gradients.sum().item<float>(), 3 * 5 * 9 + 21 + 7);
}

void Backward(const std::vector<OptimizedParameter>& parameters, double t) {
  torch::Tensor loss = torch::zeros({});
  for (const OptimizedParameter& parameter : parameters) {
    loss = loss +
           (parameter.weight * Waves(parameter.weight.sizes(), t)).tanh().sum();
  }
  loss.backward();
}

TEST(FlatWeightsTest, TrainAsThoseThatLieApart) {
  for (const OptimizerKind kind :
       {OptimizerKind::kMomentum, OptimizerKind::kLars, OptimizerKind::kAdam}) {
    const std::vector<OptimizedParameter> moved = Parameters();
    const std::vector<OptimizedParameter> kept = Parameters();
    const FlatWeights flat(moved);
    const auto of_moved = MakeOptimizer({.kind = kind}, moved);
    const auto of_kept = MakeOptimizer({.kind = kind}, kept);
    for (int step = 1; step <= 3; ++step) {
      Backward(moved, 0.2 * step);
      Backward(kept, 0.2 * step);
      EXPECT_TRUE(of_moved->Step(torch::full({}, 0.1F))
                      .equal(of_kept->Step(torch::full({}, 0.1F))));
    }
    EXPECT_TRUE(ToHost(Named(moved)) == ToHost(Named(kept)));
    EXPECT_TRUE(ToHost(of_moved->State()) == ToHost(of_kept->State()));
  }
}

TEST(FlatWeightsTest, ACheckpointOfOneKindIsOneOfTheOther) {
  const std::vector<OptimizedParameter> moved = Parameters();
  std::vector<OptimizedParameter> kept = Parameters();
  const FlatWeights flat(moved);
  {
    const torch::NoGradGuard no_grad;
    kept[0].weight.mul_(3);
  }
  const TensorMap state = ToHost(Named(kept));
  CheckFits(Named(moved), state);
  FromHost(Named(moved), state);
  EXPECT_TRUE(ToHost(Named(moved)) == state);
  EXPECT_EQ(flat.flat()[1].item<float>(),
            kept[0].weight[0][1][0][0].item<float>());
}

TEST(FlatWeightsTest, NoParametersAreNoMemory) {
  EXPECT_EQ(FlatWeights({}).flat().numel(), 0);
}

}  // namespace infeed::flat_weights_test
