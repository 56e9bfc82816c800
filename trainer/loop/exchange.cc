#include "trainer/loop/exchange.h"

#include <utility>

#include <ATen/ATen.h>

namespace infeed {

void StepExchange::Begin(const StepResults& own, bool end_asked) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor vote =
      torch::full({}, end_asked ? 1.0 : 0.0, own.loss.options());
  sums_ =
      torch::stack({own.loss, own.top_1, own.counted, vote}).to(torch::kDouble);
  pending_ = group_.BeginSum(sums_);
  buckets_.Arm();
}

StepResults StepExchange::Finish(std::int64_t batch_size) {
  const torch::NoGradGuard no_grad;
  buckets_.Finish();
  std::exchange(pending_, nullptr)->Wait();
  const torch::Tensor factor =
      torch::full({}, static_cast<double>(batch_size), sums_.options())
          .div_(sums_[2].clamp_min(1));
  // The CPU's memory is the host's, which may look whether there is anything
  // to do; a GPU multiplies by 1.
  if (!factor.is_cpu() || *factor.data_ptr<double>() != 1) {
    buckets_.Scale(factor.to(torch::kFloat));
  }
  return {.loss = sums_[0].mul(factor).to(torch::kFloat),
          .top_1 = sums_[1].mul(factor).to(torch::kFloat),
          .counted = sums_[2].to(torch::kFloat),
          .votes = sums_[3].to(torch::kFloat)};
}

}  // namespace infeed
