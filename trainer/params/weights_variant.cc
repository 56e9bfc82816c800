#include "trainer/params/weights_variant.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/warm_start.h"
#include "trainer/formats/tensor_bundle.h"
#include "trainer/log/messages.h"
#include "trainer/model/layers.h"
#include "trainer/params/resumed_run.h"
#include "trainer/params/station_options.h"
#include "trainer/results/export_folder.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

constexpr const char* kVariant = "model_variant";

// The variant in a checkpoint's state.json; "": not known.
std::string VariantOfState(const std::string& folder) {
  constexpr std::int64_t kMaxStateBytes = std::int64_t{1} << 20;
  try {
    const Checkpoint state = ParseRunState(
        ReadWholeFile(PathIn(folder, kStateFile), kMaxStateBytes));
    for (const auto& [name, value] : state.identity) {
      if (name == kVariant && value.size() > 2) {
        return value.substr(1, value.size() - 2);  // JSON
      }
    }
  } catch (const Error&) {  // Loading the checkpoint reports its damage.
  }
  return "";
}

// The variant of the checkpoint in a folder, or of the newest one with a
// readable state in a model directory: all checkpoints of a training have the
// same.
std::string VariantOfFolder(const std::string& folder) {
  std::string variant = VariantOfState(folder);
  std::vector<std::int64_t> steps = ListCheckpoints(folder);
  for (; variant.empty() && !steps.empty(); steps.pop_back()) {
    variant = VariantOfState(CheckpointFolder(folder, steps.back()));
  }
  return variant;
}

std::int64_t CountConvolutions(const ModelOptions& model) {
  return std::ranges::count(PlanLayers(model), LayerKind::kConvolution,
                            &LayerPlan::kind);
}

// Throws UsageError where a checkpoint has the convolutions of another depth.
void RequireDepth(const TensorBundle& bundle, const RunParams& resolved) {
  const std::vector<std::string> names = bundle.names();
  const std::int64_t there =
      std::ranges::count_if(names, [](const std::string& name) {
        return name.starts_with("conv2d") && name.ends_with("/kernel");
      });
  ModelOptions model = MakeModelOptions(resolved.values);
  model.variant = ModelVariant::kTpu;
  if (CountConvolutions(model) == there) {
    return;
  }
  for (const auto& [name, depth] : kResNetDepths) {
    model.depth = depth;
    if (CountConvolutions(model) == there) {
      throw UsageError(fmt::format(
          "resnet_checkpoint={}: a ResNet-{}, the model is a ResNet-{}: give "
          "resnet_depth={}",
          WithoutUrlSecrets(resolved.values.resnet_checkpoint), depth,
          resolved.values.model.depth, depth));
    }
  }
}

// The variant of the weights, on rank 0. "": not known, or the weights are not
// used.
std::string FindVariant(const RunOptions& options, const RunParams& resolved) {
  const TrainParams& params = resolved.values;
  if (params.resnet_checkpoint.empty() ||
      params.model.kind != ModelKind::kResNet) {
    return "";
  }
  if (const std::string resumed = ResumedFolder(options); !resumed.empty()) {
    return Trains(options.mode) && !resolved.origins.contains(kVariant)
               ? VariantOfFolder(resumed)
               : "";
  }
  const std::string path =
      LocalWeights(options, params.resnet_checkpoint, "resnet_checkpoint");
  if (const std::optional<std::string> prefix = FindTensorBundle(path)) {
    RequireDepth(TensorBundle(*prefix), resolved);
  }
  if (const std::optional<ModelVariant> found = VariantOfWeights(path)) {
    return std::string(ChoiceName(*found, kModelVariants));
  }
  if (params.model.variant != ModelVariant::kTorchvision) {
    Say(
        fmt::format("model_variant={}: resnet_checkpoint={} does not name its "
                    "variant; weights from PyTorch are of "
                    "model_variant=torchvision",
                    ChoiceName(params.model.variant, kModelVariants),
                    WithoutUrlSecrets(params.resnet_checkpoint)));
  }
  return "";
}

}  // namespace

std::optional<ModelVariant> VariantOfWeights(const std::string& path) {
  if (FindTensorBundle(path)) {
    return ModelVariant::kTpu;
  }
  std::error_code ignored;
  std::string name;
  if (std::filesystem::is_directory(path, ignored)) {
    name = VariantOfFolder(path);
  } else {
    const std::string folder =
        std::filesystem::absolute(path, ignored).parent_path().string();
    name = VariantOfState(folder);
    if (name.empty()) {
      name = ReadExportFacts(folder).model_variant;
    }
    if (name.empty() && IsTorchFile(path)) {
      return ModelVariant::kTorchvision;
    }
  }
  const ModelVariant* const variant = FindChoice(name, kModelVariants);
  return variant == nullptr ? std::nullopt : std::optional(*variant);
}

void FollowWeights(const RunOptions& options, Ranks& ranks,
                   RunParams& resolved) {
  const std::string found = ranks.Broadcast(
      options.place.is_first() ? FindVariant(options, resolved) : "");
  ModelVariant& variant = resolved.values.model.variant;
  const std::string now(ChoiceName(variant, kModelVariants));
  const auto* const named = std::ranges::find(
      kModelVariants, found, [](const auto& choice) { return choice.first; });
  if (named == kModelVariants.end() || found == now) {
    return;
  }
  const std::string weights =
      "resnet_checkpoint=" +
      WithoutUrlSecrets(resolved.values.resnet_checkpoint);
  if (!resolved.origins.contains(kVariant)) {
    variant = named->second;
    resolved.origins[kVariant] = "from the weights";
    Say(fmt::format("model_variant={}: that of {}", found, weights));
    return;
  }
  const std::string text = fmt::format(
      "model_variant={}: {} is of model_variant={}, whose layers compute "
      "differently",
      now, weights, found);
  if (!options.force) {
    throw UsageError(text + "; give model_variant=" + found +
                     ", or --force to load it nevertheless");
  }
  Say("--force: " + text);
}

}  // namespace infeed
