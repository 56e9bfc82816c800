// Max pool's kernels against LibTorch on the CPU.
#include "trainer/kernels/max_pool.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "tests/support/device_array.h"
#include "tests/support/image_bits.h"
#include "tests/support/kernel_tensors.h"
#include "trainer/network/fused_norm.h"
#include "trainer/network/pool.h"

#include "gtest/gtest.h"

namespace infeed::max_pool_test {

struct Case {
  std::string name;
  ImageType type = ImageType::kFloat32;
  bool same = false;  // TensorFlow's padding, else a pixel on each edge
};

template <typename T>
T BitsOf(float value) {
  // The one NaN that all have.
  return RoundedBits<T>(std::isnan(value) ? std::bit_cast<float>(0x7FFF0000U)
                                          : value);
}
template <typename T>
std::vector<T> Canonical(std::vector<T> images) {
  for (T& bits : images) {
    bits = BitsOf<T>(ValueOf(bits));
  }
  return images;
}

// Few different numbers, so that windows have several greatest ones, and the
// values that are not finite; parts of -inf and of NaN are larger than a
// window.
template <typename T>
std::vector<T> DrawImages(const MaxPoolShape& shape, std::size_t count) {
  std::mt19937 random(7);
  std::vector<T> images(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t pixel = i / static_cast<std::size_t>(shape.channels);
    const auto width = static_cast<std::size_t>(shape.width);
    const bool is_in_corner = pixel / width % 16 < 4 && pixel % width < 4;
    const unsigned kind = is_in_corner ? i % 4 : 3;
    const float number = static_cast<float>(random() % 4) - 2.5F;
    images[i] = BitsOf<T>(kind == 0            ? -INFINITY
                          : kind == 1          ? NAN
                          : random() % 50 == 0 ? NAN
                          : random() % 20 == 0 ? -INFINITY
                          : random() % 20 == 0 ? INFINITY
                          : random() % 5 == 0  ? -0.0F
                          : random() % 5 == 0  ? 0.0F
                                               : number);
  }
  return images;
}

template <typename T>
std::vector<T> DrawGradients(std::size_t count) {
  std::vector<T> gradients;
  for (const float value : Draw<float>(count, 8)) {
    const auto at = gradients.size();
    gradients.push_back(BitsOf<T>(at % 31 == 0    ? -0.0F
                                  : at % 101 == 0 ? INFINITY
                                                  : value));
  }
  return gradients;
}

// [N, H, W, C] in memory as [N, C, H, W] of float32.
template <typename T>
torch::Tensor ToTensor(const std::vector<T>& images, const MaxPoolShape& shape,
                       int height, int width) {
  std::vector<float> values;
  for (const T bits : images) {
    values.push_back(ValueOf(bits));
  }
  return torch::from_blob(values.data(),
                          {shape.images, height, width, shape.channels})
      .permute({0, 3, 1, 2})
      .clone(at::MemoryFormat::Contiguous);
}

template <typename T>
std::vector<T> ToImages(const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.permute({0, 2, 3, 1}).contiguous();
  const float* const values = dense.data_ptr<float>();
  std::vector<T> images;
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    images.push_back(BitsOf<T>(values[i]));
  }
  return images;
}

// LibTorch's places, h * W + w, as those in the windows.
std::vector<std::uint8_t> ToPlaces(const torch::Tensor& indexes,
                                   const MaxPoolShape& shape) {
  const torch::Tensor dense = indexes.permute({0, 2, 3, 1}).contiguous();
  std::vector<std::uint8_t> places;
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    const std::int64_t pixel = i / shape.channels;
    const std::int64_t index = dense.data_ptr<std::int64_t>()[i];
    const std::int64_t row =
        pixel / shape.pooled_width() % shape.pooled_height();
    const std::int64_t column = pixel % shape.pooled_width();
    places.push_back(static_cast<std::uint8_t>(
        3 * (index / shape.width - 2 * row + shape.top) + index % shape.width -
        2 * column + shape.left));
  }
  return places;
}

class MaxPoolKernelTest : public DeviceTest,
                          public testing::WithParamInterface<Case> {
 protected:
  template <typename T>
  static void ExpectAsLibrary(const MaxPoolShape& shape) {
    const auto count = [&](int height, int width) {
      return static_cast<std::size_t>(shape.images * height * width *
                                      shape.channels);
    };
    const std::size_t pooled =
        count(shape.pooled_height(), shape.pooled_width());
    const auto images = DrawImages<T>(shape, count(shape.height, shape.width));
    const auto gradients = DrawGradients<T>(pooled);
    const DeviceArray<T> x(images);
    const DeviceArray<T> y(pooled);
    const DeviceArray<std::uint8_t> places(pooled);
    const DeviceArray<T> gradient(gradients);
    const DeviceArray<T> x_gradient(images.size());
    LaunchMaxPoolForward({.shape = shape,
                          .type = GetParam().type,
                          .x = x.data(),
                          .y = y.data(),
                          .places = places.data()},
                         nullptr);
    LaunchMaxPoolBackward({.shape = shape,
                           .type = GetParam().type,
                           .gradient = gradient.data(),
                           .places = places.data(),
                           .x_gradient = x_gradient.data()},
                          nullptr);

    const torch::Tensor values =
        ToTensor(images, shape, shape.height, shape.width);
    const std::vector<std::int64_t> padding = {shape.top, shape.left};
    const auto [expected, indexes] =
        at::max_pool2d_with_indices(values, 3, 2, padding, 1, GetParam().same);
    EXPECT_EQ(Canonical(y.Values()), ToImages<T>(expected));
    EXPECT_EQ(places.Values(), ToPlaces(indexes, shape));
    const torch::Tensor of_x = at::max_pool2d_with_indices_backward(
        ToTensor(gradients, shape, shape.pooled_height(), shape.pooled_width()),
        values, 3, 2, padding, 1, GetParam().same, indexes);
    EXPECT_EQ(Canonical(x_gradient.Values()), ToImages<T>(of_x));
  }

  static void Expect(MaxPoolShape shape) {
    if (GetParam().same) {
      shape.top = shape.height % 2;
      shape.left = shape.width % 2;
    }
    SCOPED_TRACE(std::to_string(shape.height) + " x " +
                 std::to_string(shape.width) + " x " +
                 std::to_string(shape.channels));
    switch (GetParam().type) {
      case ImageType::kFloat32:
        return ExpectAsLibrary<std::uint32_t>(shape);
      case ImageType::kBfloat16:
        return ExpectAsLibrary<std::uint16_t>(shape);
      case ImageType::kFloat16:
        return ExpectAsLibrary<Float16>(shape);
    }
  }
};

TEST_P(MaxPoolKernelTest, HasTheBitsOfTheLibraryForEachSize) {
  for (const int height : {1, 2, 5, 6}) {
    for (const int width : {1, 2, 7, 8}) {
      Expect({.images = 2, .height = height, .width = width, .channels = 8});
    }
  }
}

TEST_P(MaxPoolKernelTest, TakesChannelsThatAreNoWholeVectors) {
  for (const int channels : {1, 3, 4, 12, 24, 64}) {
    Expect({.images = 1, .height = 9, .width = 8, .channels = channels});
  }
}

TEST_P(MaxPoolKernelTest, TakesManyBlocks) {
  Expect({.images = 3, .height = 18, .width = 33, .channels = 64});
}

// y and the gradient of x, from y's.
struct Pass {
  torch::Tensor y;
  torch::Tensor of_x;
};

template <typename Pool>
Pass PassOf(const torch::Tensor& x, const torch::Tensor& of_y,
            const Pool& pool) {
  const torch::Tensor leaf = x.detach().clone().requires_grad_();
  const torch::Tensor y = pool(leaf);
  y.backward(of_y.to(y.device()));
  return {.y = y.detach().cpu(), .of_x = leaf.grad()};
}

// From images in both orders of memory.
TEST_P(MaxPoolKernelTest, AutogradHasTheBitsOfTheLibrary) {
  torch::manual_seed(3);
  const bool same = GetParam().same;
  const auto type = GetParam().type == ImageType::kBfloat16  ? torch::kBFloat16
                    : GetParam().type == ImageType::kFloat16 ? torch::kHalf
                                                             : torch::kFloat;
  const torch::Tensor plain = torch::randn({2, 16, 9, 8}).to(type);
  const torch::Tensor of_y = torch::randn({2, 16, 5, 4}).to(type);
  for (const torch::Tensor& x :
       {plain, plain.contiguous(at::MemoryFormat::ChannelsLast)}) {
    const Pass own = PassOf(x, of_y, [&](const torch::Tensor& images) {
      return CudaMaxPooled(images.to(kKernelDevice), same);
    });
    // On a CPU, LibTorch's sums of bfloat16 are rounded midway, and its pool
    // takes no float16.
    const Pass library =
        PassOf(x.to(torch::kFloat), of_y.to(torch::kFloat),
               [&](const torch::Tensor& images) {
                 return MaxPooled(images, {.same = same, .own_kernels = false});
               });
    EXPECT_TRUE(own.y.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(own.y.equal(library.y.to(type)));
    EXPECT_TRUE(own.of_x.equal(library.of_x.to(type)));
  }
}

// The tensors of a norm, its input's and their gradients, on a device.
struct NormLeaves {
  explicit NormLeaves(const torch::Device& device) {
    torch::manual_seed(5);
    const auto leaf = [&](const torch::Tensor& values) {
      return values.to(device).detach().requires_grad_();
    };
    x = leaf(torch::randn({2, 16, 9, 8}) * 3 + 1);
    norm = {.weight = leaf(torch::randn({16})),
            .bias = leaf(torch::randn({16})),
            .moving_mean = torch::zeros({16}, device),
            .moving_variance = torch::ones({16}, device),
            // On the CPU a launch runs several times.
            .momentum = 1};
    of_y = torch::randn({2, 16, 5, 4}).to(device);
  }

  [[nodiscard]] std::vector<torch::Tensor> Backward(const torch::Tensor& y) {
    y.backward(of_y);
    std::vector<torch::Tensor> found = {
        y.detach(),       x.grad(),         norm.weight.grad(),
        norm.bias.grad(), norm.moving_mean, norm.moving_variance};
    for (torch::Tensor& tensor : found) {
      tensor = tensor.cpu();
    }
    return found;
  }

  torch::Tensor x;
  NormTensors norm;
  torch::Tensor of_y;
};

TEST_P(MaxPoolKernelTest, AutogradOfNormAndPoolIsThatOfBoth) {
  const bool same = GetParam().same;
  NormLeaves fused(kKernelDevice);
  NormLeaves apart(torch::kCPU);
  const auto found =
      fused.Backward(CudaFusedNormPool(fused.x, fused.norm, same));
  const auto expected =
      apart.Backward(MaxPooled(FusedNorm(apart.x, apart.norm, {}, true),
                               {.same = same, .own_kernels = false}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(found[i].allclose(expected[i], 1e-4, 1e-4)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MaxPoolKernelTest,
    testing::Values(Case{"Float32"}, Case{"Bfloat16", ImageType::kBfloat16},
                    Case{"Float16", ImageType::kFloat16},
                    Case{"Float32Same", ImageType::kFloat32, true},
                    Case{"Bfloat16Same", ImageType::kBfloat16, true},
                    Case{"Float16Same", ImageType::kFloat16, true}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace infeed::max_pool_test
