#include "trainer/results/model_labels.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "records/files/class_list.h"
#include "trainer/results/export_folder.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// names: the names of the labels from `first` on. offset: the label of class 0.
ModelLabels Named(std::vector<std::string> names, int first, int offset) {
  if (!names.empty() && first > offset) {
    names.insert(names.begin(), "background");
  } else if (!names.empty() && first < offset) {
    names.erase(names.begin());
  }
  return ModelLabels(std::move(names));
}

using Names = std::vector<std::string>;

// The number of each name; empty where a name occurs twice.
std::map<std::string, std::int32_t> Numbers(const Names& names) {
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    numbers.emplace(names[i], static_cast<std::int32_t>(i));
  }
  return numbers.size() == names.size() ? numbers
                                        : std::map<std::string, std::int32_t>();
}

}  // namespace

ModelLabels::ModelLabels(std::vector<std::string> names)
    : names_(std::move(names)) {}

ModelLabels ModelLabels::OfData(IndexClasses data, int num_classes,
                                int label_offset) {
  // A labels.txt does not contain the label of its first name.
  const bool has_background =
      data.names.size() + 1 == static_cast<std::size_t>(num_classes);
  const int first = data.first.value_or(
      has_background && label_offset == 0 ? 1 : label_offset);
  return Named(std::move(data.names), first, label_offset);
}

ModelLabels ModelLabels::OfModel(const std::string& model_dir) {
  ModelLabels names;
  names.names_ = ReadClassList(LabelsPath(model_dir));
  return names;
}

ModelLabels ModelLabels::OfWeights(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  const fs::path folder =
      is_folder && absolute.has_filename() ? absolute : absolute.parent_path();
  if (CheckpointStep(folder.filename().string())) {
    return OfModel(folder.parent_path().string());
  }
  return is_folder ? OfModel(folder.string())
                   : ModelLabels(ReadExportFacts(folder.string()).classes);
}

void ModelLabels::Save(const std::string& model_dir) const {
  if (names_.empty()) {
    return;
  }
  std::string text;
  for (const std::string& name : names_) {
    text.append(name).push_back('\n');
  }
  WriteFileAtomically(LabelsPath(model_dir), text);
}

std::string ModelLabels::NameOf(std::int64_t index) const {
  return index >= 0 && index < static_cast<std::int64_t>(names_.size())
             ? names_[static_cast<std::size_t>(index)]
             : std::to_string(index);
}

std::optional<std::int64_t> ModelLabels::IndexOf(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? std::nullopt
                               : std::optional(found - names_.begin());
}

ClassMatch MatchClasses(const Names& data, const Names& model) {
  if (data.empty() || model.empty() ||
      (data.size() <= model.size() &&
       std::equal(data.begin(), data.end(), model.begin()))) {
    return {};
  }
  const std::map<std::string, std::int32_t> numbers = Numbers(model);
  ClassMatch match;
  for (const auto& entry : Numbers(data)) {
    match.to_model.resize(data.size());
    const auto found = numbers.find(entry.first);
    if (found == numbers.end()) {
      return {.fits = false};
    }
    match.to_model[static_cast<std::size_t>(entry.second)] = found->second;
  }
  match.fits = !match.to_model.empty();
  return match;
}

std::string CountedList(const Names& names, std::size_t most) {
  const auto shown =
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  return fmt::format("{} ({}{})", names.size(),
                     fmt::join(names.begin(), shown, ", "),
                     names.size() > most ? ", ..." : "");
}

}  // namespace infeed
