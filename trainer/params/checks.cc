#include "trainer/params/checks.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "preprocess/recipe/recipe.h"
#include "trainer/params/params.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

using P = TrainParams;

bool IsLeNet(const P& p) { return p.model.kind == ModelKind::kLeNet; }

bool HasSchedule(const P& p, RateSchedule schedule) {
  return p.optimizer.learning_rate.schedule == schedule;
}

bool CanDelaySchedule(const P& p) {
  return HasSchedule(p, RateSchedule::kStep) ||
         HasSchedule(p, RateSchedule::kMultistep) ||
         HasSchedule(p, RateSchedule::kExponential) ||
         HasSchedule(p, RateSchedule::kCosine) ||
         HasSchedule(p, RateSchedule::kLinear);
}

// False while the batch is not known.
bool IsMinRateTooHigh(const P& p) {
  LearningRateOptions rate = p.optimizer.learning_rate;
  rate.lars = p.optimizer_kind() == OptimizerKind::kLars;
  rate.batch_size = p.input.batch_size;
  return p.input.batch_size > 0 && rate.min_rate >= PeakRate(rate);
}

bool IsBalanced(const P& p) { return p.loss_class_weights == kBalanced; }

bool HasNoTeacher(const P& p) { return p.distill_from.empty(); }

constexpr std::string_view kBalancedTwice =
    "an epoch has other shares of the classes than the data; give a file of "
    "weights";
constexpr std::string_view kNoTeacher = "give a teacher, too";

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
    {"learning_rate_decay_epochs", "learning_rate_schedule",
     [](const P& p) {
       return !p.learning_rate_decay_epochs.empty() &&
              !HasSchedule(p, RateSchedule::kStep) &&
              !HasSchedule(p, RateSchedule::kMultistep);
     },
     "only step and multistep have such epochs"},
    {"plateau_metric", "learning_rate_schedule",
     [](const P& p) {
       return p.plateau_metric != P().plateau_metric &&
              !HasSchedule(p, RateSchedule::kPlateau);
     },
     "it is of the schedule plateau"},
    {"plateau_patience", "learning_rate_schedule",
     [](const P& p) {
       return p.optimizer.learning_rate.plateau_patience !=
                  LearningRateOptions().plateau_patience &&
              !HasSchedule(p, RateSchedule::kPlateau);
     },
     "it is of the schedule plateau"},
    {"plateau_threshold", "learning_rate_schedule",
     [](const P& p) {
       return p.optimizer.learning_rate.plateau_threshold !=
                  LearningRateOptions().plateau_threshold &&
              !HasSchedule(p, RateSchedule::kPlateau);
     },
     "it is of the schedule plateau"},
    {"plateau_cooldown", "learning_rate_schedule",
     [](const P& p) {
       return p.optimizer.learning_rate.plateau_cooldown > 0 &&
              !HasSchedule(p, RateSchedule::kPlateau);
     },
     "it is of the schedule plateau"},
    {"restart_epochs", "learning_rate_schedule",
     [](const P& p) {
       return p.optimizer.learning_rate.restart_epochs > 0 &&
              !HasSchedule(p, RateSchedule::kCosine);
     },
     "only cosine has restarts"},
    {"restart_growth", "restart_epochs",
     [](const P& p) {
       return p.optimizer.learning_rate.restart_growth != 1 &&
              p.optimizer.learning_rate.restart_epochs == 0;
     },
     "give the length of the first cycle"},
    {"restart_decay", "restart_epochs",
     [](const P& p) {
       return p.optimizer.learning_rate.restart_decay != 1 &&
              p.optimizer.learning_rate.restart_epochs == 0;
     },
     "give the length of the first cycle"},
    {"schedule_after_warmup", "learning_rate_schedule",
     [](const P& p) {
       return !p.optimizer.learning_rate.after_warmup && !CanDelaySchedule(p);
     },
     "this schedule always begins with the run"},
    {"bce_target_threshold", "loss",
     [](const P& p) {
       return p.optimizer.loss.target_threshold > 0 &&
              p.optimizer.loss.kind != LossKind::kBce;
     },
     "only bce has a threshold"},
    {"bce_sum", "loss",
     [](const P& p) {
       return p.optimizer.loss.sums_classes &&
              p.optimizer.loss.kind != LossKind::kBce;
     },
     "only bce sums over classes"},
    {"loss_class_weights", "balance_classes",
     [](const P& p) { return IsBalanced(p) && p.selection.balance_classes; },
     kBalancedTwice},
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
    {"distill_model", "distill_from",
     [](const P& p) { return !p.distill_model.empty() && HasNoTeacher(p); },
     kNoTeacher},
    {"distill_loss", "distill_from",
     [](const P& p) {
       return p.optimizer.distill.kind != DistillOptions().kind &&
              HasNoTeacher(p);
     },
     kNoTeacher},
    {"distill_weight", "distill_from",
     [](const P& p) {
       return p.optimizer.distill.weight != DistillOptions().weight &&
              HasNoTeacher(p);
     },
     kNoTeacher},
    {"distill_temperature", "distill_from",
     [](const P& p) {
       return p.optimizer.distill.temperature != DistillOptions().temperature &&
              HasNoTeacher(p);
     },
     kNoTeacher},
    {"distill_temperature", "distill_loss",
     [](const P& p) {
       return p.optimizer.distill.temperature != DistillOptions().temperature &&
              p.optimizer.distill.kind == DistillKind::kHard;
     },
     "only soft has a temperature"},
    {"norm_weight_decay", "weight_decay",
     [](const P& p) {
       return p.optimizer.norm_weight_decay > 0 &&
              p.optimizer.weight_decay == 0;
     },
     "give a weight_decay above 0, too"},
    {"moving_average_every", "moving_average_decay",
     [](const P& p) {
       return p.optimizer.moving_average_every > 1 &&
              p.optimizer.moving_average_decay == 0;
     },
     "there is no average to update"},
    {"layer_decay_blocks", "layer_decay",
     [](const P& p) {
       return p.optimizer.layer_decay_blocks > 1 &&
              p.optimizer.layer_decay == 1;
     },
     "all blocks have one rate"},
    {"moving_average_warmup", "moving_average_decay",
     [](const P& p) {
       return p.optimizer.moving_average_warmup != AverageWarmup::kRising &&
              p.optimizer.moving_average_decay == 0;
     },
     "there is no average to update"},
    {"eval_live_weights", "moving_average_decay",
     [](const P& p) {
       return p.eval_live_weights && p.optimizer.moving_average_decay == 0;
     },
     "there is no average beside the weights"},
    {"export_moving_average", "moving_average_decay",
     [](const P& p) {
       return p.export_moving_average && p.optimizer.moving_average_decay == 0;
     },
     "there is no average to export"},
    {"eval_crops", "recipe",
     [](const P& p) {
       return p.eval_crops > 1 && p.input.recipe != Recipe::kTorchvision &&
              p.input.recipe != Recipe::kTpu;
     },
     "only torchvision and tpu crop in an evaluation"},
    {"eval_crops", "eval_flip",
     [](const P& p) { return p.eval_crops == 10 && p.eval_flip; },
     "ten crops are of the mirrored image, too; give one of them"},
    {"drop_connect_growth", "drop_connect_rate",
     [](const P& p) {
       return p.model.drop_connect_growth != DropGrowth::kGroup &&
              p.model.drop_connect_rate == 0;
     },
     "a rate of 0 does not grow; give the last block's, or "
     "drop_connect_growth=group"},
    {"dropblock_groups", "dropblock_keep_prob",
     [](const P& p) {
       return !p.dropblock_groups.empty() && p.model.drop_block.keep_prob == 0;
     },
     "give the share that DropBlock keeps at the end, for example 0.9"},
    {"blur_pool", "image_size",
     [](const P& p) {
       return p.model.blur_pool && p.input.image_size.shorter() < 17;
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
     [](const P& p) { return IsLeNet(p) && p.input.image_size != 28; },
     "LeNet takes images of 28 pixels, give image_size=28"},
    {"model", "image_size_schedule",
     [](const P& p) { return IsLeNet(p) && !p.image_size_schedule.empty(); },
     "LeNet takes images of 28 pixels"},
    {"model", "eval_image_sizes",
     [](const P& p) { return IsLeNet(p) && !p.eval_image_sizes.empty(); },
     "LeNet takes images of 28 pixels"},
    {"model", "fused_batch_norm",
     [](const P& p) { return IsLeNet(p) && p.model.fused_batch_norm == true; },
     "LeNet has no batch norm"},
    {"batch_norm_group", "fused_batch_norm",
     [](const P& p) {
       return p.batch_norm_group != 1 && p.model.fused_batch_norm == true;
     },
     "statistics that ranks share are not fused"},
};

// Parameters that must have their defaults for LeNet, and the reason.
constexpr std::pair<std::string_view, std::string_view> kOfResNets[] = {
    {"model_variant", "the variants are ResNets"},
    {"channels", "LeNet always takes one channel, the first"},
    {"groups", "LeNet has no such blocks"},
    {"width_per_group", "LeNet has no such blocks"},
    {"pre_activation", "LeNet has no such blocks"},
    {"small_stem", "LeNet has no such stem"},
    {"use_resnetd_stem", "LeNet has no such stem"},
    {"use_resnett_stem", "LeNet has no such stem"},
    {"resnetd_shortcut", "LeNet has no shortcuts"},
    {"replace_stem_max_pool", "LeNet has no such pool"},
    {"blur_pool", "LeNet has no such pool"},
    {"se_ratio", "LeNet has no such blocks"},
    {"eca", "LeNet has no such blocks"},
    {"drop_connect_rate", "LeNet has no such blocks"},
    {"drop_connect_growth", "LeNet has no such blocks"},
    {"dropblock_groups", "LeNet has no such blocks"},
    {"layer_decay", "LeNet has no such blocks"},
    {"norm_weight_decay", "LeNet has no batch norm"},
    {"freeze_batch_norm", "LeNet has no batch norm"},
};

[[noreturn]] void Refuse(std::string_view one, std::string_view other,
                         std::string_view why, const P& params) {
  throw UsageError(fmt::format("{}={} and {}={}: {}", one,
                               ValueText(*FindParam(one), params), other,
                               ValueText(*FindParam(other), params), why));
}

}  // namespace

void CheckTogether(const TrainParams& params) {
  for (const Quarrel& quarrel : kQuarrels) {
    if (quarrel.is_there(params)) {
      Refuse(quarrel.one, quarrel.other, quarrel.why, params);
    }
  }
  for (const auto& [name, why] : kOfResNets) {
    const Param& param = *FindParam(name);
    if (IsLeNet(params) &&
        ValueText(param, params) != ValueText(param, DefaultParams())) {
      Refuse("model", name, why, params);
    }
  }
}

}  // namespace infeed
