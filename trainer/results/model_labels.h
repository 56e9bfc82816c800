#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/store/index_classes.h"

namespace infeed {

// The names of a model's classes, by index. labels.txt in the model directory
// has them, one a line, so that predictions can be named without the data.
//
// Const members may be called from several threads at once.
class ModelLabels {
 public:
  ModelLabels() = default;
  // The name of each class, from 0.
  explicit ModelLabels(std::vector<std::string> names);

  // The names of a data set's classes. label_offset: the label of class 0. A
  // label 0 without a name is called background, as in the reference's 1,001
  // classes.
  [[nodiscard]] static ModelLabels OfData(IndexClasses data, int num_classes,
                                          int label_offset);
  // The names in a model directory's labels.txt; none where there is no such
  // file.
  [[nodiscard]] static ModelLabels OfModel(const std::string& model_dir);

  // The names of the classes of this program's weights at a local path: a model
  // directory, a checkpoint in one, a file of either, or a file beside an
  // export's preprocessing.json. Empty if they are not known.
  [[nodiscard]] static ModelLabels OfWeights(const std::string& path);

  // Writes labels.txt, unless there are no names.
  void Save(const std::string& model_dir) const;

  // The name, or the index as text for a class without one.
  [[nodiscard]] std::string NameOf(std::int64_t index) const;
  // The first class with this name.
  [[nodiscard]] std::optional<std::int64_t> IndexOf(
      std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// Maps the classes of data to those of a model.
struct ClassMatch {
  // Whether each class of the data is one of the model's; true if one side has
  // no names.
  bool fits = true;
  // The model's class of each class of the data; empty: the same number.
  std::vector<std::int32_t> to_model = {};
};

// Compares the names of the data's classes with those of the model's. Names
// that one side has twice fit only in the same places.
[[nodiscard]] ClassMatch MatchClasses(const std::vector<std::string>& data,
                                      const std::vector<std::string>& model);

// "3 (cat, dog, fish)", for messages: the first names.
[[nodiscard]] std::string CountedList(const std::vector<std::string>& names,
                                      std::size_t most = 20);

}  // namespace infeed
