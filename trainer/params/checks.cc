#include "trainer/params/checks.h"

#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "preprocess/recipe/recipe.h"
#include "trainer/params/params.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

using P = TrainParams;

bool IsLeNet(const P& p) { return p.model.kind == ModelKind::kLeNet; }
// Two parameters, when they conflict, and why.
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
    {"moving_average_decay", "bn_momentum",
     [](const P& p) {
       return p.optimizer.moving_average_decay > 0 && p.model.bn_momentum > 0 &&
              !IsLeNet(p);
     },
     "batch norm's statistics would be averaged twice, give bn_momentum=0"},
    {"export_moving_average", "moving_average_decay",
     [](const P& p) {
       return p.export_moving_average && p.optimizer.moving_average_decay == 0;
     },
     "there is no average to export"},
    {"dropblock_groups", "dropblock_keep_prob",
     [](const P& p) {
       return !p.dropblock_groups.empty() && p.model.drop_block.keep_prob == 0;
     },
     "give the share that DropBlock keeps at the end, for example 0.9"},
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
    {"model", "model_variant",
     [](const P& p) {
       return IsLeNet(p) && p.model.variant != ModelVariant::kTorchvision;
     },
     "the variants are ResNets"},
    {"model", "pre_activation",
     [](const P& p) { return IsLeNet(p) && p.model.pre_activation; },
     "LeNet has no such blocks"},
    {"model", "small_stem",
     [](const P& p) { return IsLeNet(p) && p.model.small_stem; },
     "LeNet has no such stem"},
    {"model", "use_resnetd_stem",
     [](const P& p) { return IsLeNet(p) && p.model.resnetd_stem; },
     "LeNet has no such stem"},
    {"model", "resnetd_shortcut",
     [](const P& p) { return IsLeNet(p) && p.model.resnetd_shortcut; },
     "LeNet has no shortcuts"},
    {"model", "replace_stem_max_pool",
     [](const P& p) { return IsLeNet(p) && p.model.replace_stem_max_pool; },
     "LeNet has no such pool"},
    {"model", "se_ratio",
     [](const P& p) { return IsLeNet(p) && p.model.se_ratio > 0; },
     "LeNet has no such blocks"},
    {"model", "drop_connect_rate",
     [](const P& p) { return IsLeNet(p) && p.model.drop_connect_rate > 0; },
     "LeNet has no such blocks"},
    {"model", "dropblock_groups",
     [](const P& p) { return IsLeNet(p) && !p.dropblock_groups.empty(); },
     "LeNet has no such blocks"},
    {"model", "freeze_batch_norm",
     [](const P& p) { return IsLeNet(p) && p.model.freeze_batch_norm; },
     "LeNet has no batch norm"},
    {"model", "fused_batch_norm",
     [](const P& p) { return IsLeNet(p) && p.model.fused_batch_norm == true; },
     "LeNet has no batch norm"},
    {"batch_norm_group", "fused_batch_norm",
     [](const P& p) {
       return p.batch_norm_group != 1 && p.model.fused_batch_norm == true;
     },
     "statistics that ranks share are not fused"},
};

}  // namespace

void CheckTogether(const TrainParams& params) {
  for (const Quarrel& quarrel : kQuarrels) {
    if (quarrel.is_there(params)) {
      throw UsageError(fmt::format(
          "{}={} and {}={}: {}", quarrel.one,
          ValueText(*FindParam(quarrel.one), params), quarrel.other,
          ValueText(*FindParam(quarrel.other), params), quarrel.why));
    }
  }
}

}  // namespace infeed
