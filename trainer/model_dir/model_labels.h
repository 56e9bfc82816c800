#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// The names of a model's classes, by their index. labels.txt in its folder has
// them, one a line, so that what it says can be named without the data.
//
// Const members may be called from several threads at once.
class ModelLabels {
 public:
  ModelLabels() = default;
  // The name of each class, from 0.
  explicit ModelLabels(std::vector<std::string> names);

  // Of the data set in a folder or at a URL, for a model of so many classes of
  // which the first has the label label_offset: from its dataset.json, else
  // labels.txt; none where there is neither. A label 0 without a name is the
  // background, as in the reference's 1,001 classes. Throws IoError, DataError.
  [[nodiscard]] static ModelLabels OfData(const std::string& data_dir,
                                          int num_classes, int label_offset);
  // Of the model in a folder; none where there is no labels.txt.
  [[nodiscard]] static ModelLabels OfModel(const std::string& model_dir);

  // Writes labels.txt; leaves it as it is where there are no names.
  void Save(const std::string& model_dir) const;

  // The name, or the index as text for a class without one.
  [[nodiscard]] std::string NameOf(std::int64_t index) const;
  // The class of that name; of two the first.
  [[nodiscard]] std::optional<std::int64_t> IndexOf(
      std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

}  // namespace infeed
