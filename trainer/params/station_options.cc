#include "trainer/params/station_options.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/shown_text.h"
#include "pipeline/options/input_table.h"
#include "pipeline/options/option_text.h"
#include "pipeline/options/options.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "trainer/checkpoint/resume.h"
#include "trainer/model/image_size_schedule.h"
#include "trainer/model/resnet_plan.h"
#include "trainer/params/stream_identity.h"
#include "trainer/params/table.h"
#include "trainer/results/eval_result.h"

namespace infeed {
namespace {

// "3,4": groups of blocks.
std::vector<int> ParseGroups(const std::string& text) {
  std::vector<int> groups;
  for (const char c : text) {
    if (c >= '1' && c <= '4') {
      groups.push_back(c - '0');
    } else if (c != ',' && c != ' ') {
      throw UsageError("dropblock_groups='" + text +
                       "': must be groups of 1 to 4, as '3,4'");
    }
  }
  return groups;
}

// "30,60,80".
std::vector<double> ParseDecayEpochs(const TrainParams& params) {
  const std::string& text = params.learning_rate_decay_epochs;
  const auto refuse = [&](std::string_view why) {
    throw UsageError(
        fmt::format("learning_rate_decay_epochs='{}': {}", text, why));
  };
  std::vector<double> epochs;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::optional<double> epoch = ParseNumber(Trimmed(part));
    if (!epoch || *epoch <= (epochs.empty() ? 0 : epochs.back())) {
      refuse("must be numbers above 0 that rise, as '30,60,80'");
    }
    epochs.push_back(*epoch);
  }
  const RateSchedule schedule = params.optimizer.learning_rate.schedule;
  if (schedule == RateSchedule::kStep && epochs.size() > 1) {
    refuse(
        "learning_rate_schedule=step has one number; give "
        "learning_rate_schedule=multistep");
  }
  return epochs.empty() ? std::vector<double>{30} : epochs;
}

// "auto", or a number.
LossScaleOptions ParseLossScale(const std::string& text) {
  LossScaleOptions options;
  if (text == kAutoLossScale) {
    return options;
  }
  constexpr double kMost = 0x1p32;
  const double scale = ParseNumber(text).value_or(0);
  if (scale < 1 || scale > kMost) {
    throw UsageError(fmt::format(
        "loss_scale='{}': must be auto, or a number from 1 to {:.0f}", text,
        kMost));
  }
  options.scale = scale;
  options.dynamic = false;
  return options;
}

std::string Quoted(std::string_view name) {
  return fmt::format("\"{}\"", name);
}

RunIdentity IdentityOf(IdentityPart part, const TrainParams& params) {
  RunIdentity identity;
  for (const Param& param : ParamTable()) {
    if (param.identity == part) {
      identity.push_back(
          {std::string(param.name), JsonText(param.AtConst(params))});
    }
  }
  return identity;
}

// A checkpoint of a run without a teacher has an empty distill_from, so that a
// run with one does not resume from it.
RunIdentity TeacherIdentity(const TrainParams& params) {
  RunIdentity identity;
  if (!params.distill_from.empty()) {
    identity = IdentityOf(IdentityPart::kTeacher, params);
  }
  identity.push_back(
      {"distill_from",
       nlohmann::json(WithoutUrlSecrets(params.distill_from)).dump()});
  return identity;
}

// Throws UsageError if the parameters describe no valid network.
void CheckNetwork(const TrainParams& params) {
  ModelOptions model = MakeModelOptions(params);
  model.num_classes = std::max(1, model.num_classes);  // 0: not known yet
  if (model.kind == ModelKind::kResNet) {
    (void)PlanResNet(model);
  }
}

}  // namespace

RunParams Resolve(const RunParams& params, const std::string& device,
                  const DataSet& data, int ranks) {
  RunParams resolved = params;
  // Throw for invalid parameters before anything is written.
  CheckNetwork(params.values);
  const ImageSizeSchedule sizes(params.values.image_size_schedule,
                                params.values.input.preprocess.image_size);
  (void)ParseDecayEpochs(params.values);
  (void)ParseEarlyStop(params.values.early_stop);
  (void)ParsePlateau(params.values.plateau);
  (void)ParseLossScale(params.values.loss_scale);
  if (data.is_fake()) {
    ResolveFakeData(IsGpu(device), ranks, resolved);
    return resolved;
  }
  ResolveDefaults({.train_images = data.train_images(),
                   .eval_images = data.eval_images(),
                   .labels = data.labels(),
                   .on_gpu = IsGpu(device),
                   .ranks = ranks},
                  resolved);
  resolved.values.input.selection = data.selection();
  return resolved;
}

ModelOptions MakeModelOptions(const TrainParams& params) {
  ModelOptions model = params.model;
  model.num_classes = params.input.num_label_classes;
  model.seed = params.input.seed;
  model.drop_block.groups = ParseGroups(params.dropblock_groups);
  model.drop_block.train_steps = params.train_steps;
  return model;
}

OptimizerOptions MakeOptimizerOptions(const TrainParams& params) {
  OptimizerOptions optimizer = params.optimizer;
  optimizer.kind = params.optimizer_kind();
  optimizer.seed = params.input.seed;
  if (params.resnet_checkpoint.empty()) {
    optimizer.body_rate_factor = 1;
  }
  if (params.precision == Precision::kFloat16) {
    optimizer.loss_scale = ParseLossScale(params.loss_scale);
  }
  LearningRateOptions& rate = optimizer.learning_rate;
  rate = RateOf(params);
  rate.decay_epochs = ParseDecayEpochs(params);
  rate.plateau_patience = ParsePlateau(params.plateau).evaluations;
  return optimizer;
}

DeviceOptions MakeDeviceOptions(const TrainParams& params,
                                const std::string& device) {
  return {.device = device,
          .precision = PrecisionOf(params, device),
          .normalization = NormalizationOf(params),
          .graphs = params.cuda_graph,
          .deterministic = params.deterministic,
          .eval_views = EvalViewsOf(params),
          .batch_norm_group = params.batch_norm_group};
}

Precision PrecisionOf(const TrainParams& params, const std::string& device) {
  // In a training run on a CPU, SettlePrecision() has set the precision.
  if (IsGpu(device)) {
    return params.precision.value_or(Precision::kBfloat16);
  }
  return params.precision == Precision::kBfloat16 ? Precision::kBfloat16
                                                  : Precision::kFloat32;
}

void CheckDevice(const TrainParams& params, const std::string& device) {
  if (params.precision == Precision::kFloat16 && !IsGpu(device)) {
    throw UsageError(
        "precision=float16 trains on a GPU only; give bfloat16 or float32 on a "
        "CPU");
  }
  if (params.model.conv_statistics != ConvStatistics::kPass && !IsGpu(device)) {
    throw UsageError(
        "conv_statistics=epilogue and conv_statistics=fused are for a GPU "
        "only; "
        "give pass on a CPU");
  }
}

KeepOptions MakeKeepOptions(const TrainParams& params, const RunOptions& run) {
  return {
      .last = params.keep_last,
      .every = params.keep_every,
      .drops_later = Trains(run.mode) && run.force && MayGoBack(run.resume)};
}

InputOptions EvalInputOf(const TrainParams& params) {
  InputOptions input = EvaluationOptions(params.input);
  input.batch_size = params.eval_batch_size;
  input.max_records = params.num_eval_images;
  input.input_hash = InputHash::kRecords;  // Nobody reads the fingerprints.
  return input;
}

EvalViews EvalViewsOf(const TrainParams& params) {
  // The device mirrors the single crop of 2 views; the input makes 5 or 10.
  const bool flip = params.eval_crops == 2;
  return {.crops = flip ? 1 : params.eval_crops, .flip = flip};
}

RunIdentity MakeNetworkIdentity(const TrainParams& params) {
  return IdentityOf(IdentityPart::kNetwork, params);
}

RunIdentity MakeIdentity(const TrainParams& params, const DataSet& data,
                         int ranks) {
  RunIdentity identity = MakeNetworkIdentity(params);
  identity.push_back(
      {"optimizer", Quoted(ChoiceName(params.optimizer_kind(), kOptimizers))});
  const RunIdentity teacher = TeacherIdentity(params);
  identity.insert(identity.end(), teacher.begin(), teacher.end());
  if (data.is_fake()) {
    identity.emplace_back("data_identity", "\"fake data\"");  // JSON
  }
  if (!data.train()) {
    return identity;
  }
  const RunIdentity stream =
      MakeStreamIdentity(params, data.train()->index, ranks);
  identity.insert(identity.end(), stream.begin(), stream.end());
  return identity;
}

}  // namespace infeed
