#pragma once

#include <functional>
#include <string>
#include <vector>

#include "records/tfrecord/reader.h"
#include "tools/cli/report_table.h"

namespace infeed {

// The table of `records head`: images with their labels, and the features of
// records without images.
class HeadTable {
 public:
  // label_key: without the standard one a record may have its label under
  // another key, as LabelKeyOf() finds it. note: called with why it is shown
  // without one.
  HeadTable(std::string label_key,
            std::function<void(const std::string&)> note);

  // Throws DataError for a record that is not an Example.
  void Add(const std::string& path, const Record& record);

  [[nodiscard]] std::string Text() const;

 private:
  void AddImage(const std::string& path, const Record& record);
  // Whether labels of a shard may have other keys: those of archives have not.
  bool IsGuessed(const std::string& path);
  std::string GuessKey(const std::string& path, const Record& record);

  const std::string given_;
  const std::function<void(const std::string&)> note_;
  std::string shard_;  // the last one with a record without the given key
  bool is_guessed_ = false;
  bool has_images_ = false;
  TextTable images_;
  std::vector<std::vector<std::string>> others_;  // rows of different lengths
};

}  // namespace infeed
