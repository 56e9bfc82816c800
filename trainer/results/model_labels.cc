#include "trainer/results/model_labels.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "records/files/class_list.h"
#include "records/files/dataset_info.h"
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

}  // namespace

ModelLabels::ModelLabels(std::vector<std::string> names)
    : names_(std::move(names)) {}

ModelLabels ModelLabels::OfData(const std::string& data_dir, int num_classes,
                                int label_offset) {
  if (std::optional<DatasetInfo> info = ReadDatasetInfo(data_dir);
      info && !info->classes.empty()) {
    return Named(std::move(info->classes), info->first_label.value_or(1),
                 label_offset);
  }
  std::vector<std::string> names =
      ReadClassList(PathIn(data_dir, "labels.txt"));
  // The file does not contain the label of its first name.
  const bool has_background =
      names.size() + 1 == static_cast<std::size_t>(num_classes);
  return Named(std::move(names),
               has_background && label_offset == 0 ? 1 : label_offset,
               label_offset);
}

ModelLabels ModelLabels::OfClasses(std::vector<std::string> names,
                                   int first_label, int label_offset) {
  return Named(std::move(names), first_label, label_offset);
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

}  // namespace infeed
