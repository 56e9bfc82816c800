#include "tools/input/class_names.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "records/files/dataset_info.h"

namespace infeed {

ClassNames::ClassNames(const RecordIndex& index) {
  if (index.shards().empty()) {
    return;
  }
  if (std::optional<DatasetInfo> info =
          FindDatasetInfo(index.shards().front())) {
    names_ = std::move(info->classes);
    first_label_ = info->first_label.value_or(1);
  }
}

std::int64_t ClassNames::LabelOf(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) {
    return found - names_.begin() + first_label_;
  }
  const auto label = ParsePlainNumber<std::int64_t>(name);
  if (!label || *label < 0) {
    throw UsageError("there is no class \"" + name +
                     "\": give a name of dataset.json, or a label");
  }
  return *label;
}

std::string ClassNames::NameOf(std::int64_t label) const {
  const std::int64_t index = label - first_label_;
  return label >= first_label_ && index < std::ssize(names_)
             ? names_[static_cast<std::size_t>(index)]
             : std::to_string(label);
}

}  // namespace infeed
