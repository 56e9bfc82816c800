#include "trainer/params/class_weights.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/order/selection.h"
#include "pipeline/order/selection_files.h"
#include "records/store/label_index.h"
#include "trainer/log/messages.h"

namespace infeed {
namespace {

using Weights = std::vector<double>;

// The index of a label's class in the weights; out of range for a label that is
// not a class.
std::size_t ClassOf(std::int64_t label, const TrainParams& params) {
  return static_cast<std::size_t>(label - LabelOffsetOf(params));
}

// The number of the selection's records with each label.
LabelCounts CountSelected(const DataSet& data, const LabelIndexOptions& keys) {
  const RecordIndex& index = *data.train_index();
  if (data.selection() == nullptr) {
    return CountLabels(index, keys);
  }
  const std::vector<std::int64_t> labels = RecordLabels(index, keys);
  LabelCounts counts;
  for (const RecordGroup& group : data.selection()->groups()) {
    for (const std::uint32_t id : group.ids) {
      ++counts[labels[id]];
    }
  }
  return counts;
}

Weights Balanced(const DataSet& data, const TrainParams& params) {
  if (data.is_fake()) {
    throw UsageError("fake data has no images to count");
  }
  Weights images(static_cast<std::size_t>(params.input.num_label_classes));
  double all = 0;
  for (const auto& [label, count] :
       CountSelected(data, {.label_key = params.input.label_key})) {
    if (const std::size_t at = ClassOf(label, params); at < images.size()) {
      images[at] = static_cast<double>(count);
      all += images[at];
    }
  }
  const auto present = static_cast<double>(
      std::ranges::count_if(images, [](double count) { return count > 0; }));
  Weights weights;
  for (const double count : images) {
    weights.push_back(count > 0 ? all / (present * count) : 1);
  }
  return weights;
}

Weights FromFile(const std::string& path, const DataSet& data,
                 const TrainParams& params) {
  constexpr double kMissing = -1;
  const ClassNames names =
      data.is_fake() ? ClassNames()
                     : ClassNames(*data.train_index(), params.input.label_key);
  Weights weights(static_cast<std::size_t>(params.input.num_label_classes),
                  kMissing);
  for (const auto& [name, weight] : ReadClassWeights(path)) {
    const std::size_t at = ClassOf(names.LabelOf(name), params);
    if (at >= weights.size()) {
      throw UsageError(
          fmt::format("{}: {} is not a class of the model", path, name));
    }
    if (weights[at] != kMissing) {
      throw UsageError(
          fmt::format("{}: class {} already has a weight", path, name));
    }
    weights[at] = weight;
  }
  if (const auto missing = std::ranges::find(weights, kMissing);
      missing != weights.end()) {
    throw UsageError(fmt::format(
        "{} has no weight for class {}", path,
        names.NameOf(missing - weights.begin() + LabelOffsetOf(params))));
  }
  if (std::ranges::max(weights) == 0) {
    throw UsageError(path + ": all weights are 0");
  }
  return weights;
}

}  // namespace

void ResolveClassWeights(const DataSet& data, RunParams& resolved) {
  TrainParams& params = resolved.values;
  const std::string& given = params.loss_class_weights;
  if (given.empty()) {
    return;
  }
  try {
    params.optimizer.loss.class_weights = given == kBalanced
                                              ? Balanced(data, params)
                                              : FromFile(given, data, params);
  } catch (const Error& error) {
    throw UsageError(
        fmt::format("loss_class_weights={}: {}", given, error.what()));
  }
}

void SayClassWeights(const TrainParams& params) {
  const Weights& weights = params.optimizer.loss.class_weights;
  if (!weights.empty()) {
    const auto [least, most] = std::ranges::minmax(weights);
    Say(fmt::format("loss:   weights of {}, {:.4g} to {:.4g}",
                    CountText(weights.size(), "class", "classes"), least,
                    most));
  }
}

}  // namespace infeed
