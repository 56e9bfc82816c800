// Norm, ReLU and max pool as one, against the kernels of each.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/device_array.h"
#include "tests/support/image_bits.h"
#include "trainer/kernels/max_pool.h"
#include "trainer/kernels/norm.h"

#include "gtest/gtest.h"

namespace infeed::norm_pool_test {

template <typename T>
std::vector<T> DrawImages(std::size_t count, unsigned seed, float factor) {
  std::vector<T> images;
  for (const float value : Draw<float>(count, seed)) {
    images.push_back(RoundedBits<T>(factor * value));
  }
  return images;
}

// T: as in image_bits.h.
template <typename T>
class NormPoolKernelTest : public DeviceTest {
 protected:
  static constexpr ImageType kType = kImageTypeOf<T>;

  // What both ways compute.
  struct Results {
    std::vector<T> y;
    std::vector<T> x_gradient;
    std::vector<float> weight_gradient;
    std::vector<float> bias_gradient;
  };

  // x's norm; rounding makes different values of x equal ones of y.
  struct Tensors {
    explicit Tensors(const MaxPoolShape& pool_shape, bool has_nan)
        : shape(pool_shape) {
      std::vector<T> images = DrawImages<T>(pixels * channels, 1, 3);
      if (has_nan) {
        images[images.size() / 2] = static_cast<T>(-1);  // a NaN
      }
      x = std::make_unique<DeviceArray<T>>(images);
    }

    [[nodiscard]] NormForward Forward(void* to) const {
      return {.shape = rows,
              .type = kType,
              .x = x->data(),
              .weight = weight.data(),
              .bias = bias.data(),
              .y = to,
              .mean = mean.data(),
              .inverse_std = inverse_std.data(),
              .workspace = workspace.data()};
    }
    [[nodiscard]] NormBackward Backward(const void* gradient_of_y) const {
      return {.shape = rows,
              .type = kType,
              .x = x->data(),
              .gradient = gradient_of_y,
              .weight = weight.data(),
              .bias = bias.data(),
              .mean = mean.data(),
              .inverse_std = inverse_std.data(),
              .x_gradient = x_gradient.data(),
              .weight_gradient = weight_gradient.data(),
              .bias_gradient = bias_gradient.data(),
              .workspace = workspace.data()};
    }
    [[nodiscard]] Results Read() const {
      return {y.Values(), x_gradient.Values(), weight_gradient.Values(),
              bias_gradient.Values()};
    }

    MaxPoolShape shape;
    std::size_t channels = static_cast<std::size_t>(shape.channels);
    std::size_t pixels =
        static_cast<std::size_t>(shape.images * shape.height * shape.width);
    std::size_t pooled = static_cast<std::size_t>(
        shape.images * shape.pooled_height() * shape.pooled_width());
    NormShape rows = {.rows = static_cast<std::int64_t>(pixels),
                      .channels = shape.channels};
    std::unique_ptr<DeviceArray<T>> x;
    DeviceArray<T> gradient{DrawImages<T>(pooled * channels, 2, 1)};
    DeviceArray<float> weight{Draw<float>(channels, 3)};  // of both signs
    DeviceArray<float> bias{Draw<float>(channels, 4)};
    DeviceArray<float> mean{channels};
    DeviceArray<float> inverse_std{channels};
    DeviceArray<T> y{pooled * channels};
    DeviceArray<std::uint8_t> places{pooled * channels};
    DeviceArray<T> x_gradient{pixels * channels};
    DeviceArray<float> weight_gradient{channels};
    DeviceArray<float> bias_gradient{channels};
    DeviceArray<float> workspace{
        static_cast<std::size_t>(NormWorkspace(rows, kType))};
  };

  static Results Apart(const Tensors& of) {
    const DeviceArray<T> normed(of.pixels * of.channels);
    const DeviceArray<T> of_normed(of.pixels * of.channels);
    LaunchNormForward(of.Forward(normed.data()), nullptr);
    LaunchMaxPoolForward({.shape = of.shape,
                          .type = kType,
                          .x = normed.data(),
                          .y = of.y.data(),
                          .places = of.places.data()},
                         nullptr);
    LaunchMaxPoolBackward({.shape = of.shape,
                           .type = kType,
                           .gradient = of.gradient.data(),
                           .places = of.places.data(),
                           .x_gradient = of_normed.data()},
                          nullptr);
    LaunchNormBackward(of.Backward(of_normed.data()), nullptr);
    return of.Read();
  }

  static Results Together(const Tensors& of) {
    LaunchNormForward(of.Forward(nullptr), nullptr);  // statistics
    LaunchMaxPoolForward({.shape = of.shape,
                          .type = kType,
                          .x = of.x->data(),
                          .norm = {.weight = of.weight.data(),
                                   .bias = of.bias.data(),
                                   .mean = of.mean.data(),
                                   .inverse_std = of.inverse_std.data()},
                          .y = of.y.data(),
                          .places = of.places.data()},
                         nullptr);
    NormBackward backward = of.Backward(of.gradient.data());
    backward.bias = nullptr;
    backward.places = of.places.data();
    backward.pooled = of.shape;
    LaunchNormBackward(backward, nullptr);
    return of.Read();
  }

  // Bits, so that NaN equals itself.
  static std::vector<std::uint32_t> BitsOf(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits;
    for (const float value : values) {
      bits.push_back(std::isnan(value) ? 0x7FFF0000U
                                       : std::bit_cast<std::uint32_t>(value));
    }
    return bits;
  }

  static void ExpectEqual(const MaxPoolShape& shape, bool has_nan = false) {
    SCOPED_TRACE(std::to_string(shape.height) + " x " +
                 std::to_string(shape.width) + " x " +
                 std::to_string(shape.channels));
    const Results apart = Apart(Tensors(shape, has_nan));
    const Results together = Together(Tensors(shape, has_nan));
    EXPECT_EQ(apart.y, together.y);
    EXPECT_EQ(apart.x_gradient, together.x_gradient);
    EXPECT_EQ(BitsOf(apart.weight_gradient), BitsOf(together.weight_gradient));
    EXPECT_EQ(BitsOf(apart.bias_gradient), BitsOf(together.bias_gradient));
  }
};

using ImageBits = testing::Types<std::uint32_t, std::uint16_t, Float16>;
TYPED_TEST_SUITE(NormPoolKernelTest, ImageBits, );

TYPED_TEST(NormPoolKernelTest, HasTheBitsOfBothApart) {
  for (const int height : {1, 5, 6}) {
    for (const int width : {2, 7, 8}) {
      TestFixture::ExpectEqual(
          {.images = 2, .height = height, .width = width, .channels = 8});
    }
  }
  TestFixture::ExpectEqual(
      {.images = 3, .height = 18, .width = 11, .channels = 72});
}

TYPED_TEST(NormPoolKernelTest, TakesTensorFlowsPadding) {
  TestFixture::ExpectEqual({.images = 2,
                            .height = 6,
                            .width = 9,
                            .channels = 24,
                            .top = 0,
                            .left = 1});
}

TYPED_TEST(NormPoolKernelTest, PassesWhatIsNotANumber) {
  TestFixture::ExpectEqual(
      {.images = 1, .height = 6, .width = 6, .channels = 8}, true);
}

}  // namespace infeed::norm_pool_test
