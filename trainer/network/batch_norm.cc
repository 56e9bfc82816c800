#include "trainer/network/batch_norm.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "base/error.h"
#include "trainer/model/options.h"
#include "trainer/network/normed_convolution.h"

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

// A rank's result of a batch norm over the images of all ranks of a group.
struct SharedNorm {
  torch::Tensor output;             // as x
  torch::Tensor mean;               // [C], float32, of all ranks' images
  torch::Tensor unbiased_variance;  // [C], float32
};

// Normalises x [N, C, H, W] by the mean and variance over all ranks' N, H and
// W, and scales it; differentiable in x, weight and bias. The gradients of
// weight and bias are this rank's parts, to be summed over the ranks like all
// other gradients.
//
// Statistics are float32 for any type of x, and are combined from the ranks'
// means and the squares about them, so that no precision is lost where the mean
// is large. Waits for the other ranks once forward and once backward.
SharedNorm SharedBatchNorm(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, DeviceGroup& group) {
  torch::Tensor mean;
  torch::Tensor squares;
  {
    const torch::NoGradGuard no_grad;
    auto moments = MomentsOf(Rows(x), group);
    mean = moments.mean;
    squares = moments.squares;
  }
  const auto count = static_cast<double>(x.numel() / x.size(1) * group.size());
  const torch::Tensor inverse = (squares / count + kBatchNormEpsilon).rsqrt();
  return {.output = Normalise::apply(x, weight, bias, mean, inverse, &group),
          .mean = mean,
          .unbiased_variance = squares / (count - 1)};
}

}  // namespace

BatchNormImpl::BatchNormImpl(const BatchNormOptions& norm_options)
    : options(norm_options),
      weight(register_parameter("weight", torch::ones({options.channels}))),
      bias(register_parameter("bias", torch::zeros({options.channels}))),
      running_mean(
          register_buffer("running_mean", torch::zeros({options.channels}))),
      running_var(
          register_buffer("running_var", torch::ones({options.channels}))),
      num_batches_tracked(register_buffer("num_batches_tracked",
                                          torch::zeros({}, torch::kLong))) {}

bool BatchNormImpl::IsFused(const torch::Tensor& x) const {
  return is_training() && group_ == nullptr && fused_.value_or(x.is_cuda());
}

// Counts a batch and returns the tensors for a FusedNorm() of the images.
NormTensors BatchNormImpl::TakeStep(const SummedImages& images) {
  num_batches_tracked.add_(1);
  return {.weight = weight,
          .bias = bias,
          .moving_mean = running_mean,
          .moving_variance = running_var,
          .momentum = options.momentum,
          .epsilon = kBatchNormEpsilon,
          .sums = images.sums};
}

torch::Tensor BatchNormImpl::forward(const SummedImages& images) {
  const torch::Tensor& x = images.x;
  if (IsFused(x)) {
    return FusedNorm(x, TakeStep(images), {}, /*relu=*/false);
  }
  if (is_training()) {
    num_batches_tracked.add_(1);
  }
  if (is_training() && group_ != nullptr) {
    return ForwardShared(x);
  }
  return at::batch_norm(x, weight, bias, running_mean, running_var,
                        is_training(), options.momentum, kBatchNormEpsilon,
                        at::globalContext().userEnabledCuDNN());
}

torch::Tensor BatchNormImpl::ForwardShared(const torch::Tensor& x) {
  const SharedNorm norm = SharedBatchNorm(x, weight, bias, *group_);
  const torch::NoGradGuard no_grad;
  running_mean.lerp_(norm.mean, options.momentum);
  running_var.lerp_(norm.unbiased_variance, options.momentum);
  return norm.output;
}

torch::Tensor BatchNormImpl::ForwardRelu(const SummedImages& images,
                                         const SummedImages& residual,
                                         BatchNormImpl* residual_norm) {
  if (IsFused(images.x)) {
    return FusedNorm(images.x, TakeStep(images), Added(residual, residual_norm),
                     /*relu=*/true);
  }
  torch::Tensor y = forward(images);
  if (residual.x.defined()) {
    y += residual_norm != nullptr ? residual_norm->forward(residual)
                                  : residual.x;
  }
  return y.relu_();
}

SummedImages BatchNormImpl::ForwardReluConvolved(
    const SummedImages& images, torch::nn::Conv2d& convolution) {
  return ConvolveNormed(convolution, images.x, TakeStep(images));
}

torch::Tensor BatchNormImpl::ForwardReluPooled(const SummedImages& images,
                                               const MaxPooling& pooling) {
  return IsFused(images.x)
             ? FusedNormPool(images.x, TakeStep(images), pooling.same)
             : MaxPooled(ForwardRelu(images), pooling);
}

std::pair<torch::Tensor, torch::Tensor> BatchNormImpl::ForwardReluForked(
    const SummedImages& images, const SummedImages& residual,
    BatchNormImpl* residual_norm) {
  if (IsFused(images.x)) {
    return ForkedNorm(images.x, TakeStep(images),
                      Added(residual, residual_norm));
  }
  const torch::Tensor y = ForwardRelu(images, residual, residual_norm);
  return {y, y};
}

NormResidual BatchNormImpl::Added(const SummedImages& residual,
                                  BatchNormImpl* norm) {
  NormResidual added = {.x = residual.x};
  if (norm != nullptr) {
    added.norm = norm->TakeStep(residual);
  }
  return added;
}

void ShareBatchNorms(torch::nn::Module& network, DeviceGroup* group) {
  for (const auto& module : network.modules(/*include_self=*/false)) {
    if (auto* norm = module->as<BatchNormImpl>()) {
      norm->set_group(group);
    }
  }
}

int BatchNormRanks(int batch_norm_group, int world_size) {
  const int ranks = batch_norm_group == 0 ? world_size : batch_norm_group;
  if (ranks < 1 || world_size % ranks != 0) {
    throw UsageError(fmt::format(
        "batch_norm_group={} does not divide the {} ranks: give a divisor, or "
        "0 for all of them",
        batch_norm_group, world_size));
  }
  return ranks;
}

}  // namespace infeed
