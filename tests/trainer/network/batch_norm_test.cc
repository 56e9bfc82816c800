#include "trainer/network/batch_norm.h"

#include <memory>

#include <ATen/ATen.h>
#include <torch/nn/modules/batchnorm.h>

#include "base/error.h"
#include "tests/support/rank_threads.h"
#include "trainer/network/resnet.h"

#include "gtest/gtest.h"

namespace infeed::batch_norm_test {

constexpr int kChannels = 5;
constexpr int kImages = 12;  // of all ranks

BatchNorm MakeNorm() {
  BatchNorm norm(BatchNormOptions{.channels = kChannels, .momentum = 0.2});
  const torch::NoGradGuard no_grad;
  norm->weight.copy_(torch::linspace(0.5, 2, kChannels));
  norm->bias.copy_(torch::linspace(-1, 1, kChannels));
  return norm;
}

std::unique_ptr<DeviceGroup> JoinAll(Ranks& ranks) {
  return JoinDeviceGroup(&ranks, 0, ranks.place().world_size, torch::kCPU,
                         kRankTimeout);
}

// Images of all ranks, whose channels have unlike means; ranks' parts differ.
torch::Tensor Images(double mean = 1) {
  return ((torch::arange(kImages * kChannels * 6 * 7) * 0.37).sin() *
          torch::linspace(0.2, 3, kImages * kChannels * 6 * 7))
      .reshape({kImages, kChannels, 6, 7})
      .add_(torch::linspace(-mean, mean, kChannels).reshape({1, -1, 1, 1}))
      .contiguous(at::MemoryFormat::ChannelsLast);
}

torch::Tensor PartOf(const torch::Tensor& all, const RankPlace& place) {
  const std::int64_t share = all.size(0) / place.world_size;
  return all.narrow(0, place.rank * share, share)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

// A pass forward and backward.
struct Passed {
  torch::Tensor output;
  torch::Tensor of_x;
  torch::Tensor of_weight;
  torch::Tensor of_bias;
  torch::Tensor running_mean;
  torch::Tensor running_var;
};

Passed Pass(BatchNorm& norm, const torch::Tensor& images,
            const torch::Tensor& target) {
  const torch::Tensor x = images.detach().clone().requires_grad_();
  const torch::Tensor output = norm->forward(x);
  // As in blocks, the output may be changed in place.
  output.mul(1).relu_().mul(target).sum().backward();
  return {.output = output.detach(),
          .of_x = x.grad(),
          .of_weight = norm->weight.grad(),
          .of_bias = norm->bias.grad(),
          .running_mean = norm->running_mean,
          .running_var = norm->running_var};
}

void ExpectNear(const torch::Tensor& a, const torch::Tensor& b, double absolute,
                const char* what) {
  EXPECT_LE(
      (a.to(torch::kFloat) - b.to(torch::kFloat)).abs().max().item<double>(),
      absolute)
      << what;
}

class SharedBatchNormTest : public testing::TestWithParam<int> {};

TEST_P(SharedBatchNormTest, StatisticsCoverAllRanksImages) {
  const torch::Tensor images = Images();
  const torch::Tensor target =
      (torch::arange(images.numel()) * 0.21).cos().reshape(images.sizes());
  BatchNorm alone = MakeNorm();
  const Passed expected = Pass(alone, images, target);
  const auto all = RankThreads(GetParam()).Collect<Passed>([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    BatchNorm norm = MakeNorm();
    norm->set_group(group.get());
    const Passed passed =
        Pass(norm, PartOf(images, place), PartOf(target, place));
    ExpectNear(passed.output, PartOf(expected.output, place), 2e-5, "output");
    ExpectNear(passed.of_x, PartOf(expected.of_x, place), 2e-5, "of x");
    ExpectNear(passed.running_mean, expected.running_mean, 1e-6, "mean");
    ExpectNear(passed.running_var, expected.running_var, 1e-5, "variance");
    EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), 1);
    EXPECT_TRUE(passed.output.is_contiguous(at::MemoryFormat::ChannelsLast));
    return passed;
  });
  torch::Tensor of_weight = torch::zeros({kChannels});
  torch::Tensor of_bias = torch::zeros({kChannels});
  for (const Passed& passed : all) {
    of_weight += passed.of_weight;
    of_bias += passed.of_bias;
  }
  ExpectNear(of_weight, expected.of_weight, 1e-3, "of weight");
  ExpectNear(of_bias, expected.of_bias, 1e-3, "of bias");
}

TEST_P(SharedBatchNormTest, LosesNoDigitsWhereTheMeanIsLarge) {
  const torch::Tensor images = Images(1e4);
  const torch::Tensor wide = images.to(torch::kDouble);
  const auto [variance, mean] =
      torch::var_mean(wide, at::IntArrayRef{0, 2, 3}, /*unbiased=*/true);
  RankThreads(GetParam()).Run([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    BatchNorm norm(BatchNormOptions{.channels = kChannels, .momentum = 1});
    norm->set_group(group.get());
    static_cast<void>(norm->forward(PartOf(images, place)));
    const torch::Tensor error =
        (norm->running_var.to(torch::kDouble) / variance - 1).abs().max();
    EXPECT_LT(error.item<double>(), 1e-4);
  });
}

TEST_P(SharedBatchNormTest, TakesBfloat16AndReturnsIt) {
  const torch::Tensor images = Images();
  BatchNorm alone = MakeNorm();
  const torch::Tensor expected =
      alone->forward(images.to(torch::kBFloat16).to(torch::kFloat));
  RankThreads(GetParam()).Run([&](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    BatchNorm norm = MakeNorm();
    norm->set_group(group.get());
    const torch::Tensor x =
        PartOf(images, place).to(torch::kBFloat16).requires_grad_();
    const torch::Tensor output = norm->forward(x);
    EXPECT_EQ(output.scalar_type(), torch::kBFloat16);
    ExpectNear(output, PartOf(expected, place), 0.03, "output");
    ExpectNear(norm->running_var, alone->running_var, 1e-5, "variance");
    output.sum().backward();
    EXPECT_EQ(x.grad().scalar_type(), torch::kBFloat16);
    EXPECT_EQ(norm->weight.grad().scalar_type(), torch::kFloat);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedBatchNormTest, testing::Values(2, 3, 4));

TEST(BatchNormTest, AloneItMatchesLibTorchs) {
  const torch::Tensor images = Images();
  torch::nn::BatchNorm2d expected(
      torch::nn::BatchNorm2dOptions(kChannels).momentum(0.2));
  BatchNorm norm(BatchNormOptions{.channels = kChannels, .momentum = 0.2});
  EXPECT_TRUE(norm->forward(images).equal(expected->forward(images)));
  RankThreads(2).Run([&](Ranks& ranks) {
    const auto group = JoinAll(ranks);
    BatchNorm shared(BatchNormOptions{.channels = kChannels});
    shared->set_group(group.get());
    shared->eval();
    EXPECT_TRUE(shared->forward(images).allclose(images, 1e-4, 1e-4));
  });
}

TEST(ShareBatchNormsTest, SharesEveryOne) {
  // One rank has blank images: only its own statistics could stay 0.
  RankThreads(2).Run([](Ranks& ranks) {
    const RankPlace& place = ranks.place();
    const auto group = JoinAll(ranks);
    const std::shared_ptr<Network> network =
        MakeResNet({.depth = 18, .num_classes = 4});
    ShareBatchNorms(*network, group.get());
    static_cast<void>(network->Forward(
        torch::full({2, 3, 32, 32}, place.rank, torch::kFloat)));
    for (const auto& buffer : network->named_buffers()) {
      torch::Tensor mine = buffer.value().to(torch::kDouble).clone();
      group->Sum(mine);
      EXPECT_TRUE(mine.equal(buffer.value().to(torch::kDouble) * 2))
          << buffer.key();
    }
  });
}

TEST(BatchNormRanksTest, TheGroupDividesTheWorld) {
  EXPECT_EQ(BatchNormRanks(1, 6), 1);
  EXPECT_EQ(BatchNormRanks(3, 6), 3);
  EXPECT_EQ(BatchNormRanks(0, 6), 6);
  EXPECT_EQ(BatchNormRanks(0, 1), 1);
  EXPECT_THROW(static_cast<void>(BatchNormRanks(4, 6)), UsageError);
  EXPECT_THROW(static_cast<void>(BatchNormRanks(2, 1)), UsageError);
  EXPECT_THROW(static_cast<void>(BatchNormRanks(-1, 6)), UsageError);
}

}  // namespace infeed::batch_norm_test
