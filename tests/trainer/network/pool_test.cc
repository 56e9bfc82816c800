#include "trainer/network/pool.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "gtest/gtest.h"

namespace infeed::pool_test {

// The result and the gradient of x.
struct Pass {
  torch::Tensor y;
  torch::Tensor of_x;
};

template <typename Pool>
Pass Run(const torch::Tensor& values, const Pool& pool) {
  const torch::Tensor x = values.detach().clone().requires_grad_();
  const torch::Tensor y = pool(x);
  torch::manual_seed(6);
  y.backward(torch::randn(y.sizes()).to(y.scalar_type()));
  return {y.detach(), x.grad()};
}

void ExpectAsLibrary(const torch::Tensor& x) {
  const Pass own = Run(x, PooledRelu);
  const Pass library =
      Run(x, [](const auto& of) { return at::avg_pool2d(of.relu(), 2); });
  EXPECT_EQ(own.y.sizes(), library.y.sizes());
  // Equal to the last bit; what is not a number at the same places.
  EXPECT_TRUE(own.y.isclose(library.y, 0, 0, true).all().item<bool>());
  EXPECT_TRUE(own.of_x.equal(library.of_x)) << x.sizes();
}

TEST(PooledReluTest, BitsMatchTheLibrarys) {
  torch::manual_seed(5);
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{128, 6, 28, 28},
        {96, 16, 10, 10},
        {1, 1, 2, 2},
        {3, 2, 6, 34},
        {0, 6, 28, 28}}) {
    ExpectAsLibrary(torch::randn(shape));
  }
}

TEST(PooledReluTest, TakesMemoryInAnyOrderAndOtherTypes) {
  torch::manual_seed(5);
  const torch::Tensor x = torch::randn({4, 6, 8, 12});
  ExpectAsLibrary(x.contiguous(at::MemoryFormat::ChannelsLast));
  ExpectAsLibrary(x.transpose(2, 3));
  ExpectAsLibrary(x.to(torch::kDouble));
  ExpectAsLibrary(x.to(torch::kBFloat16));
}

TEST(PooledReluTest, PassesWhatIsNotANumber) {
  torch::Tensor x = torch::ones({1, 1, 4, 4});
  x[0][0][1][2] = std::nanf("");
  x[0][0][3][3] = -INFINITY;
  x[0][0][2][0] = INFINITY;
  x[0][0][0][0] = -0.0F;
  ExpectAsLibrary(x);
  EXPECT_TRUE(PooledRelu(x)[0][0][0][1].isnan().item<bool>());
}

TEST(PooledReluTest, NeedsNoGradient) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor x = torch::randn({2, 3, 4, 4});
  EXPECT_TRUE(PooledRelu(x).equal(at::avg_pool2d(x.relu(), 2)));
  EXPECT_FALSE(PooledRelu(x).requires_grad());
}

}  // namespace infeed::pool_test
