#include "tools/class_names.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "records/dataset_info.h"

namespace infeed {
namespace {

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Whether a folder is one of those for each split.
bool IsSplit(std::string_view name) {
  return name == "train" || name == "validation" || name == "test";
}

}  // namespace

ClassNames::ClassNames(const RecordIndex& index) {
  if (index.shards().empty()) {
    return;
  }
  std::string folder = FolderOf(index.shards().front());
  if (IsSplit(std::filesystem::path(folder).filename().string())) {
    folder = FolderOf(folder);
  }
  if (std::optional<DatasetInfo> info = ReadDatasetInfo(folder)) {
    names_ = std::move(info->classes);
  }
}

std::int64_t ClassNames::LabelOf(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) {
    return found - names_.begin() + 1;
  }
  std::int64_t label = 0;
  const char* const end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data(), end, label);
  if (error != std::errc{} || last != end || label < 0) {
    throw UsageError("there is no class \"" + name +
                     "\": give a name of dataset.json, or a label");
  }
  return label;
}

std::string ClassNames::NameOf(std::int64_t label) const {
  return label >= 1 && label <= std::ssize(names_)
             ? names_[static_cast<std::size_t>(label) - 1]
             : std::to_string(label);
}

}  // namespace infeed
