#include "trainer/loop/batch.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <torch/types.h>

#include "pipeline/memory/image_choice.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

DeviceBatch Unpack(const Batch& batch) {
  return BatchUnpacker(torch::kCPU, Normalization::kImagenet).Unpack(batch);
}

TEST(BatchUnpackerTest, NormalisesEachChannelAsTheReferenceDoes) {
  Batch batch({.size = 1, .image_size = 3});
  const std::array<std::uint32_t, 3> levels = {0, 128, 255};
  for (std::size_t i = 0; i < 3; ++i) {
    batch.pixels()[i] = levels[i] << 24 | levels[i] << 16 | levels[i] << 8;
  }
  const torch::Tensor images = Unpack(batch).images;
  const std::array<std::array<float, 3>, 3> expected = {
      {{-2.1179039F, 0.0740645F, 2.2489083F},
       {-2.0357144F, 0.2051821F, 2.4285715F},
       {-1.8044444F, 0.4264924F, 2.6400001F}}};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(images[0][static_cast<std::int64_t>(channel)][0]
                        [static_cast<std::int64_t>(i)]
                            .item<float>(),
                  expected[channel][i], 2e-7F * 4);
    }
  }
}

TEST(BatchUnpackerTest, DividesBytesBy255WhereAsked) {
  Batch batch({.size = 1, .image_size = 2});
  batch.BlankSlot(0);
  batch.pixels()[1] = 255U << 24 | 51U << 16 | 1U << 8;
  const torch::Tensor images =
      BatchUnpacker(torch::kCPU, Normalization::kUnit).Unpack(batch).images;
  EXPECT_EQ(images[0][0][0][1].item<float>(), 1);
  EXPECT_EQ(images[0][1][0][1].item<float>(), 51.0F / 255.0F);
  EXPECT_EQ(images[0][2][0][1].item<float>(), 1.0F / 255.0F);
  EXPECT_EQ(images[0][0][0][0].item<float>(), 0);
}

TEST(BatchUnpackerTest, UnpacksTheImagesThatAreChosen) {
  BatchUnpacker unpacker(torch::kCPU, Normalization::kImagenet);
  Batch images({.size = 2, .image_size = 2});
  for (std::size_t i = 0; i < images.pixels().size(); ++i) {
    images.pixels()[i] = static_cast<std::uint32_t>(i + 1) << 24;
  }
  images.labels()[0] = 4;
  images.labels()[1] = 9;
  unpacker.Hold({.images = 2, .image_size = 2})(images);

  Batch choices(
      {.size = 3, .image_size = 2, .content = BatchContent::kChoices});
  choices.pixels()[0] = ImageChoice(1, true);
  choices.pixels()[1] = kNoImage;
  choices.pixels()[2] = ImageChoice(0, false);
  Batch expected({.size = 3, .image_size = 2});
  expected.BlankSlot(1);
  for (std::size_t i = 0; i < 4; ++i) {
    expected.slot_pixels(0)[i] = images.slot_pixels(1)[i ^ 1U];
    expected.slot_pixels(2)[i] = images.slot_pixels(0)[i];
  }
  expected.labels()[0] = 9;
  expected.labels()[2] = 4;
  expected.weights()[0] = 1;
  expected.weights()[2] = 1;

  const DeviceBatch chosen = unpacker.Unpack(choices);
  const DeviceBatch plain = unpacker.Unpack(expected);
  EXPECT_TRUE(chosen.images.equal(plain.images));
  EXPECT_TRUE(chosen.labels.equal(plain.labels));
  EXPECT_TRUE(chosen.weights.equal(plain.weights));
}

TEST(BatchUnpackerTest, TakesPixelsApartAsRedGreenBlue) {
  Batch batch({.size = 2, .image_size = 2});
  batch.BlankSlot(0);
  batch.BlankSlot(1);
  batch.slot_pixels(1)[2] = 10U << 24 | 20U << 16 | 30U << 8;  // (y 1, x 0)
  const torch::Tensor images = Unpack(batch).images;
  EXPECT_EQ(images.sizes(), at::IntArrayRef({2, 3, 2, 2}));
  EXPECT_TRUE(images.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_FLOAT_EQ(images[1][0][1][0].item<float>(), (10 - 123.675F) / 58.395F);
  EXPECT_FLOAT_EQ(images[1][1][1][0].item<float>(), (20 - 116.28F) / 57.12F);
  EXPECT_FLOAT_EQ(images[1][2][1][0].item<float>(), (30 - 103.53F) / 57.375F);
  EXPECT_FLOAT_EQ(images[1][0][0][1].item<float>(), -123.675F / 58.395F);
}

TEST(BatchUnpackerTest, SharesNothingWithTheBatch) {
  Batch batch({.size = 1, .image_size = 2});
  batch.BlankSlot(0);
  batch.labels()[0] = 3;
  batch.weights()[0] = 1;
  const DeviceBatch unpacked = Unpack(batch);
  batch.labels()[0] = 4;
  batch.weights()[0] = 0;
  batch.pixels()[0] = 0xFFFFFF00U;
  EXPECT_EQ(unpacked.labels[0].item<std::int64_t>(), 3);
  EXPECT_EQ(unpacked.weights[0].item<float>(), 1);
  EXPECT_LT(unpacked.images.max().item<float>(), 0);
}

}  // namespace
}  // namespace infeed
