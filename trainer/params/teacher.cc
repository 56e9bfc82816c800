#include "trainer/params/teacher.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/files/open_source.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/warm_start.h"
#include "trainer/formats/tensor_bundle.h"
#include "trainer/log/run_history.h"
#include "trainer/model/layers.h"
#include "trainer/model/named_networks.h"
#include "trainer/params/parse.h"
#include "trainer/params/station_options.h"
#include "trainer/params/weights_variant.h"
#include "trainer/results/model_dir.h"
#include "trainer/results/model_labels.h"

namespace infeed {
namespace {

constexpr std::string_view kParam = "distill_from";

Checkpoint BestCheckpointOf(const std::string& folder) {
  const std::optional<std::int64_t> best = RecordedBestStep(folder);
  if (best && std::ranges::count(ListCheckpoints(folder), *best) > 0) {
    return LoadCheckpoint(folder, *best);
  }
  std::vector<std::string> damaged;
  std::optional<Checkpoint> newest = LoadNewestCheckpoint(folder, damaged);
  if (!newest) {
    throw UsageError(damaged.empty() ? "no checkpoint in this folder"
                                     : "all checkpoints in it are damaged; " +
                                           damaged.front());
  }
  return *std::move(newest);
}

// The moving averages where the optimizer keeps them.
TensorMap WeightsForUse(ModelState state) {
  for (auto& [name, tensor] : state.model) {
    const auto average =
        state.optimizer.find(name + std::string(kAverageSuffix));
    if (average != state.optimizer.end()) {
      tensor = std::move(average->second);
    }
  }
  return std::move(state.model);
}

std::string Top1Text(const std::string& folder, std::int64_t step) {
  RunHistory history(folder);
  history.Update();
  for (const HistoryEvaluation& evaluation : history.evaluations()) {
    if (evaluation.step == step) {
      return fmt::format(", top-1 {:.4f}", evaluation.top_1);
    }
  }
  return "";
}

void RequireSame(std::string_view name, const auto& theirs, const auto& ours) {
  if (theirs != ours) {
    throw UsageError(
        fmt::format("its {} is {}, this run's {}", name, theirs, ours));
  }
}

// For messages; gray pixels are those of channels=1.
std::string_view PixelsText(Normalization normalization) {
  return normalization == Normalization::kImagenetGray
             ? "imagenet of gray images"
             : ChoiceName(normalization, kNormalizations);
}

// Puts the teacher's outputs into the order of the run's classes.
void TakeClassesOf(const std::vector<std::string>& theirs,
                   const std::vector<std::string>& ours, Teacher& teacher) {
  if (theirs.size() == ours.size() && !MatchClasses(ours, theirs).fits) {
    throw UsageError(fmt::format(
        "its classes are {}, this run's {}; --force takes their numbers",
        CountedList(theirs), CountedList(ours)));
  }
  const std::string head = PlanLayers(teacher.model).back().name + ".";
  if (!ArrangeClasses(theirs, ours, head, teacher.weights).empty()) {
    teacher.text += ", its outputs in the order of this run's classes";
  }
}

Teacher OfModelDir(const std::string& folder, const TrainParams& params,
                   const std::vector<std::string>& class_names) {
  if (!params.distill_model.empty()) {
    throw UsageError(
        "this model_dir has its own network: leave "
        "distill_model out");
  }
  const TrainParams theirs = ReadParams({.model_file = ParamsPath(folder),
                                         .config_file = "",
                                         .overrides = {},
                                         .flags = {}})
                                 .values;
  RequireSame("num_label_classes", theirs.input.num_label_classes,
              params.input.num_label_classes);
  RequireSame("label_offset", LabelOffsetOf(theirs), LabelOffsetOf(params));
  RequireSame("normalization", PixelsText(NormalizationOf(theirs)),
              PixelsText(NormalizationOf(params)));
  Checkpoint checkpoint = BestCheckpointOf(folder);
  Teacher teacher = {
      .model = MakeModelOptions(theirs),
      .weights = WeightsForUse(std::move(checkpoint.state)),
      .text =
          fmt::format("{}, step {} of {}{}", ModelName(theirs), checkpoint.step,
                      folder, Top1Text(folder, checkpoint.step))};
  TakeClassesOf(ModelLabels::OfModel(folder).names(), class_names, teacher);
  return teacher;
}

// A network's tensors, all 0.
TensorMap Zeros(const ModelOptions& model) {
  TensorMap tensors;
  for (const LayerPlan& layer : PlanLayers(model)) {
    for (const TensorPlan& plan : TensorsOf(layer)) {
      const bool counts = plan.name.ends_with("num_batches_tracked");
      tensors[plan.name] = {
          .type = counts ? DataType::kInt64 : DataType::kFloat32,
          .shape = plan.shape,
          .bytes = std::vector<std::byte>(
              static_cast<std::size_t>(CountElements(plan)) *
              (counts ? sizeof(std::int64_t) : sizeof(float)))};
    }
  }
  return tensors;
}

Teacher OfWeights(const std::string& path, const TrainParams& params,
                  const std::vector<std::string>& class_names) {
  if (!std::filesystem::exists(path) && !FindTensorBundle(path)) {
    throw UsageError("no such file or folder");
  }
  const std::string& name =
      params.distill_model.empty() ? params.distill_from : params.distill_model;
  const NamedNetwork* const network = FindNetwork(name);
  if (network == nullptr) {
    throw UsageError(
        "not a model_dir with a params.yaml: give the network of these "
        "weights, such as distill_model=resnet50");
  }
  RequireSame("normalization", PixelsText(params.normalization),
              PixelsText(NormalizationOf(params)));
  Teacher teacher = {
      .model = network->shape,
      .weights = {},
      .text = fmt::format("{} of {}", network->name, PathForMessages(path))};
  teacher.model.num_classes = params.input.num_label_classes;
  if (const std::optional<ModelVariant> variant = VariantOfWeights(path);
      variant && *variant != teacher.model.variant) {
    teacher.model.variant = *variant;
    teacher.text +=
        fmt::format(", model_variant={}", ChoiceName(*variant, kModelVariants));
  }
  teacher.weights = Zeros(teacher.model);
  const WarmStarted started = WarmStart(path, teacher.model, teacher.weights);
  TakeClassesOf(ModelLabels::OfWeights(path).names(), class_names, teacher);
  if (!started.head_left.empty()) {
    throw UsageError(started.head_left);
  }
  return teacher;
}

void CheckSize(const Teacher& teacher, const TrainParams& params) {
  if (teacher.model.kind == ModelKind::kLeNet &&
      (params.input.preprocess.image_size != 28 ||
       !params.image_size_schedule.empty())) {
    throw UsageError("its network LeNet takes images of 28 pixels alone");
  }
}

std::string LossText(const DistillOptions& distill) {
  return distill.temperature > 0
             ? fmt::format("; loss soft, weight {}, temperature {}",
                           distill.weight, distill.temperature)
             : fmt::format("; loss hard, weight {}", distill.weight);
}

}  // namespace

std::optional<Teacher> FindTeacher(const RunOptions& options,
                                   RunParams& resolved,
                                   std::vector<std::string> class_names) {
  TrainParams& params = resolved.values;
  if (params.distill_from.empty() || !Trains(options.mode)) {
    return std::nullopt;
  }
  const std::string path = LocalWeights(options, params.distill_from, kParam);
  try {
    if (options.force) {
      class_names.clear();
    }
    Teacher teacher = HasParamFile(ParamsPath(path))
                          ? OfModelDir(path, params, class_names)
                          : OfWeights(path, params, class_names);
    CheckSize(teacher, params);
    teacher.text += LossText(params.optimizer.distill);
    params.teacher = teacher.model;
    return teacher;
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}={}: {}", kParam,
                                 WithoutUrlSecrets(params.distill_from),
                                 error.what()));
  }
}

}  // namespace infeed
