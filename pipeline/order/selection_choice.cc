#include "pipeline/order/selection_choice.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/order/selection.h"
#include "pipeline/order/selection_files.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "records/store/index_data.h"
#include "records/store/label_index.h"

namespace infeed {
namespace {

// The parts of "a,b,c".
std::vector<std::string> Listed(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    parts.push_back(part);
  }
  return parts;
}

struct MixPart {
  std::string folder;
  double weight = 0;
};

MixPart ParseMixPart(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const double weight =
      equals == std::string::npos ? -1 : ParseWeight(text.substr(equals + 1));
  if (weight < 0) {
    throw UsageError("mix=" + text + ": give DIR=WEIGHT, such as data/a=0.7");
  }
  MixPart part = {.folder = text.substr(0, equals), .weight = weight};
  if (!IsDataFolder(part.folder)) {
    throw UsageError("mix=" + text + ": " + PathForMessages(part.folder) +
                     " is not a folder: give the folder of a data set");
  }
  return part;
}

std::vector<MixPart> MixParts(const SelectionChoice& choice) {
  std::vector<MixPart> parts;
  for (const std::string& text : Listed(choice.mix)) {
    parts.push_back(ParseMixPart(text));
  }
  return parts;
}

RecordIndex IndexPart(const MixPart& part, const std::string& split,
                      const OnShardSetFaults& on_faults) {
  std::optional<RecordIndex> index =
      IndexSplit(part.folder, split, {.on_faults = on_faults});
  if (!index) {
    throw UsageError("mix: " +
                     MissingSplitText(part.folder, RequireSplitName(split)));
  }
  return *std::move(index);
}

void IgnoreFaults(const ShardSetFaults&) {}  // They have been reported.

// Rejects fields that each determine the epoch and thus exclude each other.
void CheckChoice(const SelectionChoice& choice) {
  const int splits = (choice.class_weights.empty() ? 0 : 1) +
                     (choice.sample_weights.empty() ? 0 : 1) +
                     (choice.mix.empty() ? 0 : 1);
  if (splits > 1) {
    throw UsageError("give one of class_weights, sample_weights and mix");
  }
  if (!choice.mix.empty() &&
      !(choice.subset.empty() && choice.classes.empty())) {
    throw UsageError("mix takes whole data sets: leave subset and classes out");
  }
}

std::vector<RecordGroup> MixedGroups(const SelectionChoice& choice,
                                     const std::string& split,
                                     const RecordIndex& index) {
  const std::vector<MixPart> parts = MixParts(choice);
  std::vector<RecordGroup> groups;
  std::int64_t first = 0;
  for (const MixPart& part : parts) {
    const std::int64_t records =
        parts.size() == 1 ? index.size()
                          : IndexPart(part, split, IgnoreFaults).size();
    groups.push_back({.name = part.folder,
                      .range = {first, records},
                      .weight = part.weight});
    first += records;
  }
  if (first != index.size()) {
    throw IoError("mix=" + choice.mix + ": has other records than before: " +
                  "another program writes to it");
  }
  return groups;
}

// The records that subset and classes select.
std::vector<std::uint32_t> Filtered(const SelectionChoice& choice,
                                    const RecordIndex& index,
                                    const ClassNames& names,
                                    const std::vector<std::int64_t>& labels) {
  std::vector<std::uint32_t> ids;
  if (choice.subset.empty()) {
    ids.resize(static_cast<std::size_t>(index.size()));
    std::iota(ids.begin(), ids.end(), 0U);
  } else {
    ids = ReadRecordList(choice.subset, index.size());
  }
  if (!choice.classes.empty()) {
    std::set<std::int64_t> wanted;
    for (const std::string& name : Listed(choice.classes)) {
      wanted.insert(names.LabelOf(name));
    }
    std::erase_if(
        ids, [&](std::uint32_t id) { return !wanted.contains(labels[id]); });
  }
  return ids;
}

// A group for each class, in the order of labels, without weights.
std::vector<RecordGroup> ByClass(const std::vector<std::uint32_t>& ids,
                                 const ClassNames& names,
                                 const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, RecordGroup> groups;
  for (const std::uint32_t id : ids) {
    if (labels[id] != kNoLabel) {
      groups[labels[id]].ids.push_back(id);
    }
  }
  std::vector<RecordGroup> sorted;
  for (auto& [label, group] : groups) {
    group.name = "class " + names.NameOf(label);
    sorted.push_back(std::move(group));
  }
  return sorted;
}

// Gives each class its weight, and drops classes of weight 0.
void WeighClasses(const std::string& path, const ClassNames& names,
                  const std::vector<std::int64_t>& labels,
                  std::vector<RecordGroup>& groups) {
  std::map<std::int64_t, double> weights;
  for (const auto& [name, weight] : ReadClassWeights(path)) {
    weights[names.LabelOf(name)] = weight;
  }
  for (RecordGroup& group : groups) {
    const auto found = weights.find(labels[group.ids.front()]);
    if (found == weights.end()) {
      throw DataError({.path = path}, "has no weight for " + group.name);
    }
    group.weight = found->second;
  }
  std::erase_if(groups,
                [](const RecordGroup& group) { return group.weight == 0; });
}

RecordGroup Weighed(const std::string& path, const RecordIndex& index,
                    std::vector<std::uint32_t> ids) {
  const std::vector<double> weights = ReadSampleWeights(path, index.size());
  std::erase_if(ids, [&](std::uint32_t id) { return weights[id] == 0; });
  RecordGroup group = {.name = "the selection", .ids = std::move(ids)};
  for (const std::uint32_t id : group.ids) {
    group.weights.push_back(weights[id]);
  }
  return group;
}

std::vector<RecordGroup> Groups(const SelectionChoice& choice,
                                const RecordIndex& index,
                                const std::string& label_key) {
  const bool by_class = !choice.class_weights.empty();
  const bool asks_labels = by_class || !choice.classes.empty();
  const std::vector<std::int64_t> labels =
      asks_labels ? RecordLabels(index, {.label_key = label_key})
                  : std::vector<std::int64_t>();
  const ClassNames names =
      asks_labels ? ClassNames(index, label_key) : ClassNames();
  std::vector<std::uint32_t> ids = Filtered(choice, index, names, labels);
  if (by_class) {
    std::vector<RecordGroup> groups = ByClass(ids, names, labels);
    if (choice.class_weights != kBalanced) {
      WeighClasses(choice.class_weights, names, labels, groups);
    }
    return groups;
  }
  if (!choice.sample_weights.empty()) {
    return {Weighed(choice.sample_weights, index, std::move(ids))};
  }
  return {{.name = "the selection", .ids = std::move(ids)}};
}

}  // namespace

RecordIndex IndexMix(const SelectionChoice& choice, const std::string& split,
                     const OnShardSetFaults& on_faults) {
  const std::vector<MixPart> parts = MixParts(choice);
  std::string list;
  for (const MixPart& part : parts) {
    RecordIndex index = IndexPart(part, split, on_faults);
    if (parts.size() == 1) {
      return index;
    }
    list += (list.empty() ? "" : ",") + part.folder;
  }
  return IndexSplit(list, split,
                    {.on_faults = IgnoreFaults, .takes_files_twice = true})
      .value();
}

std::shared_ptr<const Selection> MakeSelection(const SelectionChoice& choice,
                                               const std::string& split,
                                               const RecordIndex& index,
                                               const std::string& label_key) {
  CheckChoice(choice);
  if (!choice.mix.empty()) {
    return std::make_shared<const Selection>(MixedGroups(choice, split, index),
                                             choice.epoch_records);
  }
  return choice.takes_all()
             ? nullptr
             : std::make_shared<const Selection>(
                   Groups(choice, index, label_key), choice.epoch_records);
}

std::string SelectionText(const Selection& selection) {
  constexpr std::size_t kShown = 10;
  const std::vector<RecordGroup>& groups = selection.groups();
  std::string text = "an epoch has " + CountText(selection.places(), "image");
  for (std::size_t i = 0; i < std::min(kShown, groups.size()); ++i) {
    text += (i == 0 ? ": " : ", ") + groups[i].name + " " +
            std::to_string(selection.places_of(i)) + " (of " +
            CountText(groups[i].size(), "record") + ")";
  }
  if (groups.size() > kShown) {
    text += " and " + std::to_string(groups.size() - kShown) + " more";
  }
  return text;
}

}  // namespace infeed
