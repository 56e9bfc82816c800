#include "trainer/network/batch_norm_shared.h"

#include <cstdint>
#include <utility>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

namespace infeed {
namespace {

namespace autograd = torch::autograd;

// [N, C, H, W] as [N * H * W, C] float32: a view of float32 in channels_last
// order.
torch::Tensor Rows(const torch::Tensor& x) {
  return x.permute({0, 2, 3, 1}).reshape({-1, x.size(1)}).to(torch::kFloat);
}

// [C] in a shape that broadcasts to [N, C, H, W].
torch::Tensor OfChannels(const torch::Tensor& values) {
  return values.reshape({1, -1, 1, 1});
}

// x in channels_last order and with the type of `like`.
torch::Tensor As(const torch::Tensor& like, const torch::Tensor& x) {
  return x.to(like.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);
}

struct Moments {
  torch::Tensor mean;     // [C], float32
  torch::Tensor squares;  // about the mean, summed; [C], float32
};

// The moments over all ranks, each of which has as many rows. Sums in float64,
// in which the sum of squares about 0 keeps float32's precision.
Moments MomentsOf(const torch::Tensor& rows, DeviceGroup& group) {
  const auto count = static_cast<double>(rows.size(0));
  const torch::Tensor mean = rows.mean(0);
  const torch::Tensor squares = (rows - mean).square_().sum(0);
  const torch::Tensor wide = mean.to(torch::kDouble);
  const torch::Tensor sums =
      torch::stack({wide, squares.to(torch::kDouble) + count * wide.square()});
  group.Sum(sums);
  const torch::Tensor mean_of_all = sums[0] / group.size();
  return {.mean = mean_of_all.to(torch::kFloat),
          .squares = (sums[1] - count * group.size() * mean_of_all.square())
                         .clamp_min_(0)
                         .to(torch::kFloat)};
}

// Holds the group in a node of the autograd graph.
struct GroupHolder final : torch::CustomClassHolder {
  explicit GroupHolder(DeviceGroup& held) : group(held) {}
  DeviceGroup& group;
};

// (x - mean) * inverse * weight + bias, where mean and inverse are functions of
// all ranks' x.
class Normalise final : public autograd::Function<Normalise> {
 public:
  static torch::Tensor forward(autograd::AutogradContext* context,
                               const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const torch::Tensor& bias,
                               const torch::Tensor& mean,
                               const torch::Tensor& inverse,
                               DeviceGroup* group) {
    context->save_for_backward({x, weight, mean, inverse});
    context->saved_data["group"] =
        c10::IValue::make_capsule(c10::make_intrusive<GroupHolder>(*group));
    const torch::Tensor scale = weight * inverse;
    return As(x, torch::addcmul(OfChannels(bias - mean * scale),
                                x.to(torch::kFloat), OfChannels(scale)));
  }

  static autograd::variable_list backward(
      autograd::AutogradContext* context,
      const autograd::variable_list& gradients) {
    const autograd::variable_list saved = context->get_saved_variables();
    const torch::Tensor& weight = saved[1];
    const torch::Tensor& mean = saved[2];
    const torch::Tensor& inverse = saved[3];
    const torch::Tensor centred = saved[0].to(torch::kFloat) - OfChannels(mean);
    const torch::Tensor gradient = gradients[0].to(torch::kFloat);

    const torch::Tensor of_bias = gradient.sum({0, 2, 3});
    const torch::Tensor of_weight =
        (centred * gradient).sum({0, 2, 3}).mul_(inverse);
    const auto [bias_mean, weight_mean] =
        MeansOf(of_bias, of_weight, gradient.numel(), *context);

    // weight * inverse * (gradient - its mean - x^ * the mean of both's
    // product), x^ = (x - mean) * inverse.
    torch::Tensor of_x = gradient - OfChannels(bias_mean);
    of_x.addcmul_(centred, OfChannels(weight_mean * inverse), -1)
        .mul_(OfChannels(weight * inverse));
    return {As(saved[0], of_x), of_weight,       of_bias,
            torch::Tensor(),    torch::Tensor(), torch::Tensor()};
  }

 private:
  // Turns sums over this rank's images into means over all ranks' images.
  static std::pair<torch::Tensor, torch::Tensor> MeansOf(
      const torch::Tensor& a, const torch::Tensor& b, std::int64_t elements,
      autograd::AutogradContext& context) {
    const auto holder = context.saved_data["group"].toCapsule();
    DeviceGroup& group = static_cast<GroupHolder&>(*holder).group;
    const torch::Tensor sums = torch::stack({a, b}).to(torch::kDouble);
    group.Sum(sums);
    const auto count = static_cast<double>(elements / a.numel() * group.size());
    const torch::Tensor means = (sums / count).to(torch::kFloat);
    return {means[0], means[1]};
  }
};

}  // namespace

SharedNorm SharedBatchNorm(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, double epsilon,
                           DeviceGroup& group) {
  torch::Tensor mean;
  torch::Tensor squares;
  {
    const torch::NoGradGuard no_grad;
    auto moments = MomentsOf(Rows(x), group);
    mean = moments.mean;
    squares = moments.squares;
  }
  const auto count = static_cast<double>(x.numel() / x.size(1) * group.size());
  const torch::Tensor inverse = (squares / count + epsilon).rsqrt();
  return {.output = Normalise::apply(x, weight, bias, mean, inverse, &group),
          .mean = mean,
          .unbiased_variance = squares / (count - 1)};
}

}  // namespace infeed
