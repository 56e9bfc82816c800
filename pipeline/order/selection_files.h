#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "records/store/record_index.h"

// The files that a selection of records reads. All functions throw IoError, and
// DataError naming file and line for an invalid entry.
namespace infeed {

// Reads record numbers in 0..records-1, in file order: on each line one number
// or a range such as 100-199; no record may occur twice.
[[nodiscard]] std::vector<std::uint32_t> ReadRecordList(const std::string& path,
                                                        std::int64_t records);

// Reads one weight per line: line i for record i of `records` records.
[[nodiscard]] std::vector<double> ReadSampleWeights(const std::string& path,
                                                    std::int64_t records);

// Reads a class and a weight per line; each class may occur once.
[[nodiscard]] std::map<std::string, double> ReadClassWeights(
    const std::string& path);

// Parses a weight of 0 or more; returns a negative number for other texts.
[[nodiscard]] double ParseWeight(std::string_view text);

// The names of a data set's classes and their labels, as records hold them.
// Const members may be called from several threads at once.
class ClassNames {
 public:
  // No names, only labels.
  ClassNames() = default;
  // The names of FindNumberedClasses(). Throws as that.
  ClassNames(const RecordIndex& index, const std::string& label_key);

  // Returns the label of a class, given as a name or as a label; a name takes
  // precedence. Throws UsageError for a text that is neither.
  [[nodiscard]] std::int64_t LabelOf(const std::string& name) const;
  // A label's class name, or the label itself as text if it has no name.
  [[nodiscard]] std::string NameOf(std::int64_t label) const;

 private:
  std::vector<std::string> names_;  // of label first_label_ + i
  std::int64_t first_label_ = 1;
};

}  // namespace infeed
