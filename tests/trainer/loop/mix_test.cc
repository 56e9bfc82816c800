#include <cstdint>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "trainer/loop/batch.h"

#include "gtest/gtest.h"

namespace infeed::mix_test {

constexpr std::int64_t kSide = 4;

// Five images of noise; the fourth does not count.
TrainBatch FiveImages() {
  return {.images = (torch::arange(5 * 3 * kSide * kSide) * 0.7)
                        .sin()
                        .reshape({5, 3, kSide, kSide})
                        .contiguous(at::MemoryFormat::ChannelsLast),
          .labels = torch::tensor({0, 1, 2, -1, 1}, torch::kLong),
          .counted = torch::tensor({1.0F, 1.0F, 1.0F, 0.0F, 1.0F})};
}

torch::Tensor Row(const Mix& mix) {
  return torch::tensor({mix.outside, mix.inside, mix.left, mix.top, mix.right,
                        mix.bottom, mix.label_share});
}

const Mix kMixUp = {.outside = 0.75, .label_share = 0.75};
const Mix kCutMix = {.inside = 0,
                     .left = 1,
                     .top = 0,
                     .right = 3,
                     .bottom = 4,
                     .label_share = 0.25};

TEST(MixedTest, MixesNeighboursByMixUp) {
  const TrainBatch batch = FiveImages();
  const TrainBatch mixed = Mixed(batch, Row(kMixUp));
  EXPECT_TRUE(mixed.images[0].allclose(
      0.75 * batch.images[0] + 0.25 * batch.images[1], 1e-5, 1e-6));
  EXPECT_TRUE(mixed.images[1].allclose(
      0.75 * batch.images[1] + 0.25 * batch.images[0], 1e-5, 1e-6));
  EXPECT_TRUE(mixed.partner_labels[0].equal(batch.labels[1]));
  EXPECT_EQ(mixed.label_share[0].item<float>(), 0.75F);
}

TEST(MixedTest, CutsTheNeighboursBoxIn) {
  const TrainBatch batch = FiveImages();
  const TrainBatch mixed = Mixed(batch, Row(kCutMix));
  torch::Tensor expected = batch.images[0].clone();
  expected.narrow(2, 1, 2).copy_(batch.images[1].narrow(2, 1, 2));
  EXPECT_TRUE(mixed.images[0].equal(expected));
  EXPECT_EQ(mixed.label_share[0].item<float>(), 0.25F);
}

TEST(MixedTest, LeavesASlotAloneWhoseNeighbourDoesNotCountOrIsMissing) {
  const TrainBatch batch = FiveImages();
  const TrainBatch mixed = Mixed(batch, Row(kMixUp));
  EXPECT_TRUE(mixed.images[2].equal(batch.images[2]));
  EXPECT_TRUE(mixed.images[4].equal(batch.images[4]));
  EXPECT_EQ(mixed.label_share[2].item<float>(), 1);
  EXPECT_TRUE(mixed.images.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(MixedTest, TakesWhatWasUploadedForTheStep) {
  const MixOptions options = {.mixup_alpha = 1, .cutmix_alpha = 1, .seed = 3};
  const torch::Tensor rows = UploadMixes(7, 4, 32, options, torch::kCPU);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(rows[i].equal(Row(DrawMix(7 + i, 32, options))));
  }
}

TEST(MixedTest, Top1CountsTheLabelThatWeighsMore) {
  const torch::Tensor logits = torch::eye(5).narrow(1, 0, 3);
  const auto first = [&](const Mix& mix) {
    return InTop1Of(logits, Mixed(FiveImages(), Row(mix)))[0].item<float>();
  };
  EXPECT_EQ(first(kMixUp), 1);   // Its own label, 0.
  EXPECT_EQ(first(kCutMix), 0);  // Its neighbour's, 1.
}

TEST(PartOfTest, CutsEveryTensor) {
  const TrainBatch mixed = Mixed(FiveImages(), Row(kMixUp));
  const TrainBatch part = PartOf(mixed, 1, 2);
  EXPECT_TRUE(part.images.equal(mixed.images.narrow(0, 1, 2)));
  EXPECT_TRUE(part.labels.equal(mixed.labels.narrow(0, 1, 2)));
  EXPECT_TRUE(part.counted.equal(mixed.counted.narrow(0, 1, 2)));
  EXPECT_TRUE(part.partner_labels.equal(mixed.partner_labels.narrow(0, 1, 2)));
  EXPECT_TRUE(part.label_share.equal(mixed.label_share.narrow(0, 1, 2)));
  EXPECT_FALSE(PartOf(FiveImages(), 1, 2).label_share.defined());
}

}  // namespace infeed::mix_test
