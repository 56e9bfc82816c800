#include "trainer/run/data_classes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/store/index_classes.h"
#include "records/store/key_guess.h"
#include "records/store/label_index.h"
#include "trainer/params/label_facts.h"
#include "trainer/params/validation.h"
#include "trainer/results/model_labels.h"

namespace infeed {
namespace {

using Names = std::vector<std::string>;

// use: the purpose, such as "evaluate".
void RefuseUnlessForced(const Job& job, const Names& data,
                        const std::string& model_classes, const char* use) {
  const std::string text = fmt::format(
      "{}: the data has other classes than the model: the data has {}, the "
      "model {}",
      job.options.inputs.empty() ? "data_dir=" + job.options.data_dir
                                 : "input=" + job.options.inputs.front(),
      CountedList(data), model_classes);
  if (!job.options.force) {
    throw UsageError(fmt::format(
        "{}; give data of the model's classes, or --force to {} nevertheless, "
        "by the numbers of the classes",
        text, use));
  }
  Say("--force: " + text + "; classes are taken by their numbers");
}

const char* UseOf(const Job& job) {
  return job.options.mode == Mode::kEval ? "evaluate" : "predict";
}

// The records that a trained model is used on.
struct UsedData {
  const RecordIndex& index;
  IndexClasses classes;
  const RunIdentity& validation;  // the training's
};

// Whether the label of the first class is known only from the model's
// parameters, which tell of other data.
bool IsOfTraining(const Job& job, const UsedData& data) {
  const auto origin = job.resolved.origins.find("label_offset");
  return origin != job.resolved.origins.end() && origin->second == kFromModel &&
         !EvaluatesData(data.validation, data.index);
}

// The label of the first of so many classes, if only this one, of 0 and 1,
// gives each label a class.
std::optional<int> OnlyFirst(const LabelCounts& found, std::int64_t classes) {
  const std::int64_t last = found.empty() ? kNoLabel : found.rbegin()->first;
  if (found.contains(0)) {
    return last < classes ? std::optional(0) : std::nullopt;
  }
  return last == classes ? std::optional(1) : std::nullopt;
}

// Empty: the records have no labels.
LabelCounts LabelsFound(const Job& job, const UsedData& data) {
  return MayHaveLabels(data.index)
             ? CountLabels(data.index,
                           {.use_cache = data.index.uses_cache(),
                            .label_key = job.params.input.label_key})
             : LabelCounts();
}

// As the records tell by their format or labels; nullopt: they do not.
std::optional<int> ToldFirst(const Job& job, const UsedData& data) {
  const InputOptions& input = job.params.input;
  const std::optional<int> stated = StatedLabelOffset(
      data.index, {.image = input.image_key, .label = input.label_key});
  if (stated) {
    return stated;
  }
  const LabelCounts found = LabelsFound(job, data);
  return OnlyFirst(found, data.classes.names.empty()
                              ? input.num_label_classes
                              : std::ssize(data.classes.names));
}

// The label of the first of the data's classes; of_training: the training's.
int FirstLabelOf(const Job& job, const UsedData& data, int of_training) {
  if (!data.classes.names.empty() && data.classes.first) {
    return *data.classes.first;
  }
  const int first = IsOfTraining(job, data)
                        ? ToldFirst(job, data).value_or(of_training)
                        : of_training;
  if (first != of_training) {
    Say(fmt::format(
        "labels: those of this data count from {}, {}; "
        "label_offset sets it",
        first,
        first == LabelOffsetOf(job.params) ? "and have no background"
                                           : "unlike the training's"));
  }
  return first;
}

// Whether a model could have one class more than the data has names, the
// background, whose label 0 the names leave out.
bool FitsWithBackground(const Job& job, std::size_t names,
                        std::size_t classes) {
  return names + 1 == classes && LabelOffsetOf(job.params) == 0;
}

// For a model without names: whether the data's labels are those of names that
// leave the background out. Records without labels do not contradict it.
bool LeavesOutBackground(const Job& job, const UsedData& data) {
  if (data.classes.first) {
    return *data.classes.first == 1;
  }
  const LabelCounts found = LabelsFound(job, data);
  const std::int64_t last = found.empty() ? kNoLabel : found.rbegin()->first;
  const bool is_reference =
      job.params.input.num_label_classes == kReferenceClasses;
  return last == kNoLabel || last == std::ssize(data.classes.names) ||
         (is_reference && !found.contains(0));
}

// Without names only the numbers of classes can be compared.
ClassMap MatchCounts(const Job& job, const UsedData& data) {
  const int offset = LabelOffsetOf(job.params);
  const auto classes =
      static_cast<std::size_t>(job.params.input.num_label_classes);
  const std::size_t count = data.classes.names.size();
  const bool has_background =
      count == 0 ? FitsWithBackground(job, kReferenceClasses - 1, classes)
                 : FitsWithBackground(job, count, classes) &&
                       LeavesOutBackground(job, data);
  if (count > 0 && count != classes && !has_background) {
    RefuseUnlessForced(job, data.classes.names,
                       fmt::format("{} without names", classes), UseOf(job));
  }
  return {.label_offset =
              has_background ? offset : FirstLabelOf(job, data, offset)};
}

// Whether the model's first class is a background that the data does not name.
bool NamesBackground(const Names& data, const Names& model) {
  constexpr std::array<std::string_view, 4> kBackgrounds = {
      "background", "__background__", "_background_", "dummy"};
  return std::ranges::find(kBackgrounds, model.front()) != kBackgrounds.end() &&
         std::ranges::find(data, model.front()) == data.end();
}

ClassMap MatchNames(const Job& job, const UsedData& data, const Names& model) {
  const Names& names = data.classes.names;
  const int offset = LabelOffsetOf(job.params);
  // A labels.txt does not contain the label of its first name.
  const bool has_background =
      FitsWithBackground(job, names.size(), model.size()) &&
      NamesBackground(names, model);
  ClassMatch match = MatchClasses(names, model);
  if (!match.fits) {
    RefuseUnlessForced(job, names, CountedList(model), UseOf(job));
    return {.label_offset =
                has_background ? offset : FirstLabelOf(job, data, offset)};
  }
  if (!match.to_model.empty() && !has_background) {
    Say(fmt::format("classes: by their names; the data has {}, the model {}",
                    CountedList(names), CountedList(model)));
  }
  return {.label_offset = FirstLabelOf(job, data, has_background ? 1 : offset),
          .to_model = std::move(match.to_model)};
}

}  // namespace

ClassMap MatchToModel(const Job& job, const RecordIndex* index,
                      const ModelLabels& model, const RunIdentity& validation) {
  ClassMap map = {.label_offset = LabelOffsetOf(job.params)};
  if (index == nullptr || index->size() == 0) {
    return map;
  }
  if (index->is_of_images() && index->class_names().empty()) {
    return {.label_offset = 1};  // RecordsOf(): labelled with model's classes
  }
  if (job.ranks.place().is_first()) {
    const UsedData data = {.index = *index,
                           .classes = FindClasses(*index),
                           .validation = validation};
    map = data.classes.names.empty() || model.names().empty()
              ? MatchCounts(job, data)
              : MatchNames(job, data, model.names());
  }
  using Json = nlohmann::json;
  const Json of_all = Json::parse(
      job.ranks.Broadcast(Json{map.label_offset, map.to_model}.dump()));
  return {.label_offset = of_all[0].get<int>(),
          .to_model = of_all[1].get<std::vector<std::int32_t>>()};
}

void RequireSameClasses(const Job& job) {
  if (!job.ranks.place().is_first() || job.data.is_fake()) {
    return;
  }
  const Names model = ModelLabels::OfModel(job.options.model_dir).names();
  const Names data = DataLabels(job).names();
  if (!model.empty() && !data.empty() && model != data) {
    RefuseUnlessForced(job, data, CountedList(model), "resume");
  }
}

}  // namespace infeed
