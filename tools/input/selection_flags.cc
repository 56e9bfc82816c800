#include "tools/input/selection_flags.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "records/files/shards.h"
#include "records/store/label_index.h"
#include "tools/cli/help_text.h"
#include "tools/input/selection_files.h"

namespace infeed {
namespace {

struct MixPart {
  std::string folder;
  double weight = 0;
  std::vector<std::string> shards = {};
};

MixPart ParseMixPart(const std::string& text, const std::string& split,
                     const OnShardSetFaults& on_faults) {
  const std::size_t equals = text.rfind('=');
  const double weight =
      equals == std::string::npos ? -1 : ParseWeight(text.substr(equals + 1));
  if (weight < 0) {
    throw UsageError("--mix " + text + ": give DIR=WEIGHT, such as data/a=0.7");
  }
  MixPart part = {.folder = text.substr(0, equals), .weight = weight};
  part.shards = FindSplit(part.folder, split, on_faults);
  if (part.shards.empty()) {
    throw UsageError("--mix: " + part.folder +
                     " has no shards of the split \"" + split + "\"");
  }
  return part;
}

std::vector<MixPart> MixParts(const SelectionFlags& flags,
                              const std::string& split,
                              const OnShardSetFaults& on_faults) {
  std::vector<MixPart> parts;
  for (const std::string& text : flags.mix) {
    parts.push_back(ParseMixPart(text, split, on_faults));
  }
  return parts;
}

// Rejects flags that each determine the epoch and thus exclude each other.
void CheckFlags(const SelectionFlags& flags) {
  const int splits =
      (flags.balance_classes ? 1 : 0) + (flags.class_weights.empty() ? 0 : 1) +
      (flags.sample_weights.empty() ? 0 : 1) + (flags.mix.empty() ? 0 : 1);
  if (splits > 1) {
    throw UsageError(
        "give one of --balance_classes, --class_weights, --sample_weights and "
        "--mix");
  }
  if (!flags.mix.empty() && !(flags.subset.empty() && flags.classes.empty())) {
    throw UsageError(
        "--mix takes whole data sets: leave --subset and --classes out");
  }
}

std::vector<RecordGroup> MixedGroups(const SelectionFlags& flags,
                                     const std::string& split,
                                     const RecordIndex& index) {
  std::vector<RecordGroup> groups;
  std::size_t shard = 0;
  std::int64_t first = 0;
  // MixedShards() has reported the faults.
  for (const MixPart& part :
       MixParts(flags, split, [](const ShardSetFaults&) {})) {
    RecordGroup group = {
        .name = part.folder, .range = {first, 0}, .weight = part.weight};
    for (std::size_t i = 0; i < part.shards.size(); ++i, ++shard) {
      group.range.count += index.shard_size(shard);
    }
    first += group.range.count;
    groups.push_back(std::move(group));
  }
  return groups;
}

// The records that --subset and --classes select.
std::vector<std::uint32_t> Filtered(const SelectionFlags& flags,
                                    const RecordIndex& index,
                                    const ClassNames& names,
                                    const std::vector<std::int64_t>& labels) {
  std::vector<std::uint32_t> ids;
  if (flags.subset.empty()) {
    ids.resize(static_cast<std::size_t>(index.size()));
    std::iota(ids.begin(), ids.end(), 0U);
  } else {
    ids = ReadRecordList(flags.subset, index.size());
  }
  if (!flags.classes.empty()) {
    std::set<std::int64_t> wanted;
    for (const std::string& name : flags.classes) {
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

std::vector<RecordGroup> Groups(const SelectionFlags& flags,
                                const RecordIndex& index,
                                const std::string& label_key) {
  const bool by_class = flags.balance_classes || !flags.class_weights.empty();
  const bool asks_labels = by_class || !flags.classes.empty();
  const std::vector<std::int64_t> labels =
      asks_labels ? RecordLabels(index, {.label_key = label_key})
                  : std::vector<std::int64_t>();
  const ClassNames names = asks_labels ? ClassNames(index) : ClassNames();
  std::vector<std::uint32_t> ids = Filtered(flags, index, names, labels);
  if (by_class) {
    std::vector<RecordGroup> groups = ByClass(ids, names, labels);
    if (!flags.class_weights.empty()) {
      WeighClasses(flags.class_weights, names, labels, groups);
    }
    return groups;
  }
  if (!flags.sample_weights.empty()) {
    return {Weighed(flags.sample_weights, index, std::move(ids))};
  }
  return {{.name = "the selection", .ids = std::move(ids)}};
}

}  // namespace

void AddSelectionFlags(CLI::App& app, SelectionFlags& flags) {
  const FlagGroup group(app, "Selection", Shown::kInHelpAll);
  app.add_option("--subset", flags.subset,
                 "File with the numbers of the records to use, from 0: a "
                 "number or a range such as 100-199 per line.")
      ->type_name("FILE");
  app.add_option("--classes", flags.classes,
                 "Classes whose records are used: names from dataset.json, or "
                 "labels as stored in records.")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_flag("--balance_classes", flags.balance_classes,
               "Give every class the same share of an epoch.");
  app.add_option(
         "--class_weights", flags.class_weights,
         "File with a class and its weight, its share of an epoch, per line.")
      ->type_name("FILE");
  app.add_option(
         "--sample_weights", flags.sample_weights,
         "File with a weight per line for every record: how often it is used.")
      ->type_name("FILE");
  app.add_option("--mix", flags.mix,
                 "Data sets to mix, each with its share of an epoch.")
      ->delimiter(',')
      ->type_name("DIR=W,...");
  app.add_option("--epoch_records", flags.epoch_records,
                 "Records of an epoch; 0: as many as are selected.")
      ->capture_default_str();
}

std::vector<std::string> MixedShards(const SelectionFlags& flags,
                                     const std::string& split,
                                     const OnShardSetFaults& on_faults) {
  std::vector<std::string> shards;
  for (const MixPart& part : MixParts(flags, split, on_faults)) {
    shards.insert(shards.end(), part.shards.begin(), part.shards.end());
  }
  return shards;
}

std::shared_ptr<const Selection> MakeSelection(const SelectionFlags& flags,
                                               const std::string& split,
                                               const RecordIndex& index,
                                               const std::string& label_key) {
  CheckFlags(flags);
  if (!flags.mix.empty()) {
    return std::make_shared<const Selection>(MixedGroups(flags, split, index),
                                             flags.epoch_records);
  }
  const bool takes_all =
      flags.subset.empty() && flags.classes.empty() && !flags.balance_classes &&
      flags.class_weights.empty() && flags.sample_weights.empty() &&
      flags.epoch_records == 0;
  return takes_all ? nullptr
                   : std::make_shared<const Selection>(
                         Groups(flags, index, label_key), flags.epoch_records);
}

}  // namespace infeed
