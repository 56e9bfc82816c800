#include "trainer/groups/gradient_buckets.h"

#include <memory>
#include <vector>

#include <ATen/ATen.h>

#include "tests/support/rank_threads.h"

#include "gtest/gtest.h"

namespace infeed::gradient_buckets_test {

// Three layers, one of them with its weight in channels_last order, and a
// parameter that no loss depends on.
struct Model {
  torch::Tensor conv = (torch::arange(4 * 3 * 3 * 3) * 0.7)
                           .sin()
                           .reshape({4, 3, 3, 3})
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .requires_grad_();
  torch::Tensor hidden =
      (torch::arange(64) * 0.3).sin().reshape({16, 4}).requires_grad_();
  torch::Tensor last = (torch::arange(16) * 0.9).cos().requires_grad_();
  torch::Tensor unused = torch::ones({5}).requires_grad_();

  [[nodiscard]] std::vector<torch::Tensor> Weights() const {
    return {conv, unused, hidden, last};
  }
  [[nodiscard]] std::vector<OptimizedParameter> Parameters() const {
    std::vector<OptimizedParameter> parameters;
    for (const torch::Tensor& weight : Weights()) {
      parameters.push_back({.name = "", .weight = weight});
    }
    return parameters;
  }
  [[nodiscard]] torch::Tensor Loss(int rank) const {
    const torch::Tensor x = (torch::arange(2 * 3 * 5 * 5) * (0.11 + rank))
                                .cos()
                                .reshape({2, 3, 5, 5});
    return at::conv2d(x, conv)
        .relu()
        .mean({2, 3})
        .matmul(hidden.t())
        .tanh()
        .matmul(last)
        .sum();
  }
};

std::unique_ptr<DeviceGroup> JoinAll(Ranks& ranks) {
  return JoinDeviceGroup(&ranks, 0, ranks.place().world_size, torch::kCPU,
                         kRankTimeout);
}

std::vector<torch::Tensor> GradientsOf(const Model& model) {
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& weight : model.Weights()) {
    gradients.push_back(weight.grad().clone());
  }
  return gradients;
}

// The sum of the gradients of ranks [0, ranks) for each weight, `passes` times.
std::vector<torch::Tensor> Expected(int ranks, int passes) {
  const Model model;
  for (int i = 0; i < ranks * passes; ++i) {
    model.Loss(i % ranks).backward();
  }
  model.unused.mutable_grad() = torch::zeros({5});
  return GradientsOf(model);
}

void ExpectNear(const std::vector<torch::Tensor>& gradients,
                const std::vector<torch::Tensor>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(gradients[i].allclose(expected[i], 1e-4, 1e-6)) << i;
  }
}

struct Shape {
  int ranks;
  std::int64_t bytes;  // of a bucket
  std::size_t buckets;
};

class GradientBucketsTest : public testing::TestWithParam<Shape> {};

TEST_P(GradientBucketsTest, GradientsAreSummedOverAllRanksAndPasses) {
  RankThreads(GetParam().ranks).Run([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    const Model model;
    GradientBuckets buckets(model.Parameters(), *group, GetParam().bytes);
    EXPECT_EQ(buckets.size(), GetParam().buckets);
    for (const int passes : {1, 3}) {
      for (int pass = 1; pass <= passes; ++pass) {
        if (pass == passes) {
          buckets.Arm();
        }
        model.Loss(place.rank).backward();
      }
      buckets.Finish();
      ExpectNear(GradientsOf(model), Expected(place.world_size, passes));
      EXPECT_EQ(model.conv.grad().strides(), model.conv.strides());
      for (const torch::Tensor& weight : model.Weights()) {
        weight.mutable_grad().reset();
      }
    }
  });
}

TEST_P(GradientBucketsTest, SumsDuringThePassAreThoseAfterIt) {
  RankThreads(GetParam().ranks).Run([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    std::vector<std::vector<torch::Tensor>> gradients;
    for (const bool during : {true, false}) {
      const Model model;
      GradientBuckets buckets(model.Parameters(), *group, GetParam().bytes);
      if (during) {
        buckets.Arm();
      }
      model.Loss(place.rank).backward();
      buckets.Finish();
      gradients.push_back(GradientsOf(model));
    }
    for (std::size_t i = 0; i < gradients[0].size(); ++i) {
      EXPECT_TRUE(gradients[0][i].equal(gradients[1][i])) << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, GradientBucketsTest,
                         testing::Values(Shape{2, 1'000'000, 1}, Shape{2, 1, 4},
                                         Shape{3, 1, 4}, Shape{4, 200, 2}));

// Counts the sums that have begun.
class CountingGroup final : public DeviceGroup {
 public:
  class Done final : public Pending {
   public:
    void Wait() override {}
  };
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] std::unique_ptr<Pending> BeginSum(
      const torch::Tensor& tensor) override {
    sizes.push_back(tensor.numel());
    return std::make_unique<Done>();
  }
  void Broadcast(const torch::Tensor& /*tensor*/) override {}

  std::vector<std::int64_t> sizes;
};

TEST(GradientBucketsOrderTest, TheLastParametersGoWhileThePassGoesOn) {
  const Model model;
  CountingGroup group;
  GradientBuckets buckets(model.Parameters(), group, 1);
  model.Loss(0).backward();  // A pass before the last sends nothing.
  EXPECT_TRUE(group.sizes.empty());
  buckets.Arm();
  model.Loss(0).backward();
  // "unused" never comes, and "conv" waits for it: the order is fixed.
  EXPECT_EQ(group.sizes, (std::vector<std::int64_t>{16, 64}));
  buckets.Finish();
  EXPECT_EQ(group.sizes, (std::vector<std::int64_t>{16, 64, 16, 112}));
  const std::vector<torch::Tensor> before = GradientsOf(model);
  buckets.Scale(torch::full({}, 0.5));
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(model.Weights()[i].grad().equal(before[i] * 0.5)) << i;
  }
}

TEST(GradientBucketsOrderTest, NoSumIsLeftPending) {
  const Model model;
  CountingGroup group;
  {
    GradientBuckets buckets(model.Parameters(), group);
    buckets.Arm();
  }
  model.Loss(0).backward();
  EXPECT_TRUE(group.sizes.empty());
  EXPECT_TRUE(model.last.grad().defined());
}

}  // namespace infeed::gradient_buckets_test
