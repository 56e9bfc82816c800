#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"
#include "trainer/params/params.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

using P = TrainParams;

bool IsLeNet(const P& p) { return p.model.kind == ModelKind::kLeNet; }

bool HasSchedule(const P& p, RateSchedule schedule) {
  return p.optimizer.learning_rate.schedule == schedule;
}

// False while the batch is not known.
bool IsMinRateTooHigh(const P& p) {
  const LearningRateOptions rate = RateOf(p);
  return rate.batch_size > 0 && rate.min_rate >= PeakRate(rate);
}

bool IsBalanced(const P& p) { return p.loss_class_weights == kBalanced; }

constexpr std::string_view kBalancedTwice =
    "an epoch has other shares of the classes than the data; give a file of "
    "weights";

// Two parameters, the condition under which they conflict, and the reason.
struct Quarrel {
  std::string_view one;
  std::string_view other;
  bool (*is_there)(const P&);
  std::string_view why;
};

constexpr Quarrel kQuarrels[] = {
    {"enable_lars", "optimizer",
     [](const P& p) {
       return p.enable_lars && p.optimizer.kind != OptimizerKind::kMomentum &&
              p.optimizer.kind != OptimizerKind::kLars;
     },
     "they are two optimizers, give one"},
    {"poly_rate", "optimizer",
     [](const P& p) {
       return p.optimizer.learning_rate.poly_rate > 0 &&
              p.optimizer_kind() != OptimizerKind::kLars;
     },
     "it is a rate of optimizer=lars"},
    {"min_learning_rate", "base_learning_rate", IsMinRateTooHigh,
     "it must be below the peak, which train_batch_size may scale"},
    {"learning_rate_schedule", "learning_rate_decay_epochs",
     [](const P& p) {
       return HasSchedule(p, RateSchedule::kMultistep) &&
              p.learning_rate_decay_epochs.empty();
     },
     "give the epochs of its decays, as '30,60,80'"},
    {"loss_class_weights", "class_weights",
     [](const P& p) {
       return IsBalanced(p) && !p.selection.class_weights.empty();
     },
     kBalancedTwice},
    {"loss_class_weights", "sample_weights",
     [](const P& p) {
       return IsBalanced(p) && !p.selection.sample_weights.empty();
     },
     kBalancedTwice},
    {"loss_class_weights", "mix",
     [](const P& p) { return IsBalanced(p) && !p.selection.mix.empty(); },
     kBalancedTwice},
    {"norm_weight_decay", "weight_decay",
     [](const P& p) {
       return p.optimizer.norm_weight_decay > 0 &&
              p.optimizer.weight_decay == 0;
     },
     "give a weight_decay above 0, too"},
    {"eval_crops", "recipe",
     [](const P& p) {
       return p.eval_crops > 2 && p.input.preprocess.recipe != Recipe::kTpu &&
              p.input.preprocess.recipe != Recipe::kTorchvision;
     },
     "corners are cropped with recipe=tpu or torchvision"},
    {"model", "image_size",
     [](const P& p) {
       return p.model.blur_pool && p.input.preprocess.image_size.shorter() < 17;
     },
     "a blur needs maps of two pixels, give at least 17"},
    {"small_stem", "use_resnetd_stem",
     [](const P& p) { return p.model.small_stem && p.model.resnetd_stem; },
     "they are two stems, give one"},
    {"small_stem", "replace_stem_max_pool",
     [](const P& p) {
       return p.model.small_stem && p.model.replace_stem_max_pool;
     },
     "a small stem has no pool"},
    {"train_batch_size", "gradient_accumulation_steps",
     [](const P& p) {
       return p.input.batch_size % p.optimizer.accumulation_steps != 0;
     },
     "the batch must divide into equal parts"},
    {"model", "image_size",
     [](const P& p) {
       return IsLeNet(p) && p.input.preprocess.image_size != 28;
     },
     "LeNet takes images of 28 pixels, give image_size=28"},
    {"model", "fused_batch_norm",
     [](const P& p) { return IsLeNet(p) && p.model.fused_batch_norm == true; },
     "LeNet has no batch norm"},
    {"batch_norm_group", "fused_batch_norm",
     [](const P& p) {
       return p.batch_norm_group != 1 && p.model.fused_batch_norm == true;
     },
     "statistics that ranks share are not fused"},
    {"batch_norm_group", "conv_statistics",
     [](const P& p) {
       return p.batch_norm_group != 1 &&
              p.model.conv_statistics != ConvStatistics::kPass;
     },
     "statistics that ranks share are not fused"},
    {"conv_statistics", "precision",
     [](const P& p) {
       return p.model.conv_statistics == ConvStatistics::kFused &&
              p.precision != Precision::kFloat16;
     },
     "cuDNN normalizes within a convolution in float16 only, give "
     "precision=float16 or conv_statistics=epilogue"},
};

[[noreturn]] void Refuse(std::string_view one, std::string_view other,
                         std::string_view why, const P& params) {
  throw UsageError(fmt::format("{}={} and {}={}: {}", one,
                               ValueText(*FindParam(one), params), other,
                               ValueText(*FindParam(other), params), why));
}

bool IsDefault(const Param& param, const P& params) {
  return ValueText(param, params) == ValueText(param, DefaultParams());
}

bool IsMet(const ParamCondition& condition, const P& params) {
  const Param& other = *FindParam(condition.other);
  switch (condition.kind) {
    case ParamCondition::Kind::kNeeds:
      return !IsDefault(other, params);
    case ParamCondition::Kind::kOnlyWith:
      return IsChoice(condition.values, ValueText(other, params));
    case ParamCondition::Kind::kNotFor:
      return !IsChoice(condition.values, ValueText(other, params));
  }
  return true;
}

std::string ReasonOf(std::string_view name, const ParamCondition& condition) {
  switch (condition.kind) {
    case ParamCondition::Kind::kNeeds:
      return fmt::format("{} needs {}", name, condition.other);
    case ParamCondition::Kind::kOnlyWith:
      return fmt::format("{} is only used with {}={}", name, condition.other,
                         ChoicesText(condition.values));
    case ParamCondition::Kind::kNotFor:
      return fmt::format("{} is not used with {}={}", name, condition.other,
                         ChoicesText(condition.values));
  }
  return "";
}

void CheckConditions(const Param& param, const P& params) {
  for (const ParamCondition& condition : param.conditions) {
    if (!IsDefault(param, params) && !IsMet(condition, params)) {
      Refuse(param.name, condition.other, ReasonOf(param.name, condition),
             params);
    }
  }
}

}  // namespace

void CheckTogether(const TrainParams& params) {
  for (const Quarrel& quarrel : kQuarrels) {
    if (quarrel.is_there(params)) {
      Refuse(quarrel.one, quarrel.other, quarrel.why, params);
    }
  }
  for (const Param& param : ParamTable()) {
    CheckConditions(param, params);
  }
  CheckInputNeeds(params.input, NameOfInput);
}

}  // namespace infeed
