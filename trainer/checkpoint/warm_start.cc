#include "trainer/checkpoint/warm_start.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/checkpoint/weights_file.h"
#include "trainer/model/layers.h"

namespace infeed {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kNamesShown = 6;
constexpr std::string_view kCounter = ".num_batches_tracked";

std::string ShapeText(const HostTensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape, ", "));
}

// "3 (a, b, c)", the first few of them.
std::string List(const Names& names) {
  const auto shown = names.begin() + static_cast<std::ptrdiff_t>(
                                         std::min(names.size(), kNamesShown));
  return fmt::format("{} ({}{})", names.size(),
                     fmt::join(names.begin(), shown, ", "),
                     names.size() > kNamesShown ? ", ..." : "");
}

// How the weights found fit a model.
struct Fit {
  Names taken;
  Names head;     // of the model, not taken
  Names missing;  // needed, but not in the file
  Names other;    // of another shape
  Names unused;   // of the file
};

// Whether the file's tensor fits the model's.
bool FitsInto(const HostTensor& tensor, const HostTensor& found) {
  return tensor.type == found.type && tensor.shape == found.shape;
}

Fit Compare(const TensorMap& weights, const TensorMap& found,
            const std::string& head) {
  Fit fit;
  for (const auto& [name, tensor] : weights) {
    const auto other = found.find(name);
    const bool fits = other != found.end() && FitsInto(tensor, other->second);
    if (fits) {
      fit.taken.push_back(name);
    } else if (name.starts_with(head)) {
      fit.head.push_back(name);
    } else if (other != found.end()) {
      fit.other.push_back(fmt::format("{} {} instead of {}", name,
                                      ShapeText(other->second),
                                      ShapeText(tensor)));
    } else if (!name.ends_with(kCounter)) {
      fit.missing.push_back(name);
    }
  }
  if (!fit.head.empty()) {  // All tensors of the head are taken, or none.
    std::erase_if(fit.taken, [&](const std::string& name) {
      return name.starts_with(head);
    });
  }
  for (const auto& entry : found) {
    if (!weights.contains(entry.first)) {
      fit.unused.push_back(entry.first);
    }
  }
  return fit;
}

void RequireAll(const Fit& fit, const std::string& path) {
  if (fit.missing.empty() && fit.other.empty()) {
    return;
  }
  std::string why = "does not fit the model";
  if (!fit.missing.empty()) {
    why += "; missing tensors: " + List(fit.missing);
  }
  if (!fit.other.empty()) {
    why += "; tensors of another shape: " + List(fit.other);
  }
  throw DataError({.path = path}, why);
}

}  // namespace

WarmStarted WarmStart(const std::string& path, const ModelOptions& model,
                      TensorMap& weights) {
  const std::vector<LayerPlan> layers = LayersOf(model);
  FoundWeights found = ReadWeights(path, layers);
  const std::string head = layers.back().name + ".";
  const Fit fit = Compare(weights, found.tensors, head);
  RequireAll(fit, path);
  for (const std::string& name : fit.taken) {
    weights[name] = std::move(found.tensors[name]);
  }
  WarmStarted started;
  started.text = fmt::format("starting from {}: {} tensors taken", found.what,
                             fit.taken.size());
  if (!fit.head.empty()) {
    const std::string name = head + "weight";
    const bool is_there = found.tensors.contains(name);
    const std::string shape =
        is_there ? ShapeText(found.tensors[name]) : "none";
    started.text += fmt::format(
        "\n  the classifier {} starts from new weights: the file has {}",
        layers.back().name, shape);
    started.head_left =
        fmt::format("the classifier {} is {} in the file and {} in the model",
                    layers.back().name, shape, ShapeText(weights[name]));
  }
  if (!fit.unused.empty()) {
    started.text += "\n  unused tensors: " + List(fit.unused);
  }
  return started;
}

}  // namespace infeed
