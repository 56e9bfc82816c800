#include "trainer/run/data_classes.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/store/index_classes.h"
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

// Without names only the numbers of classes can be compared.
ClassMap MatchCounts(const Job& job, const IndexClasses& data) {
  const int offset = LabelOffsetOf(job.params);
  const int classes = job.params.input.num_label_classes;
  const auto count = static_cast<int>(data.names.size());
  const bool has_background = count + 1 == classes && offset == 0;
  if (count > 0 && count != classes && !has_background) {
    RefuseUnlessForced(job, data.names,
                       fmt::format("{} without names", classes), UseOf(job));
  }
  return {.label_offset =
              count == classes ? data.first.value_or(offset) : offset};
}

ClassMap MatchNames(const Job& job, const IndexClasses& data,
                    const Names& model) {
  const int offset = LabelOffsetOf(job.params);
  // A labels.txt does not contain the label of its first name.
  const bool has_background =
      data.names.size() + 1 == model.size() && offset == 0;
  const int first = data.first.value_or(has_background ? 1 : offset);
  ClassMatch match = MatchClasses(data.names, model);
  if (!match.fits) {
    RefuseUnlessForced(job, data.names, CountedList(model), UseOf(job));
    return {.label_offset = offset};
  }
  if (!match.to_model.empty() && !has_background) {
    Say(fmt::format("classes: by their names; the data has {}, the model {}",
                    CountedList(data.names), CountedList(model)));
  }
  return {.label_offset = first, .to_model = std::move(match.to_model)};
}

}  // namespace

ClassMap MatchToModel(const Job& job, const RecordIndex* index,
                      const ModelLabels& model) {
  ClassMap map = {.label_offset = LabelOffsetOf(job.params)};
  if (index == nullptr || index->size() == 0) {
    return map;
  }
  if (job.ranks.place().is_first()) {
    const IndexClasses data = FindClasses(*index);
    map = data.names.empty() || model.names().empty()
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
