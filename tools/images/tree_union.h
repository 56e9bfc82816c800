#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "records/store/image_tree.h"
#include "records/store/key_guess.h"

namespace infeed {

struct FindImagesOptions {
  int threads = 0;       // for reading records; 0: one per core
  RecordKeys keys = {};  // the user's keys for records (FindKeys())
  // Called while records are read, with their number so far; one call at a
  // time. An exception ends the search.
  std::function<void(std::int64_t)> on_records = [](std::int64_t) {};
};

// Lists the images of several inputs as one tree: classes of the same name are
// one class, splits of the same name one split. An input is a folder in a
// layout of FindImages(), or else files of records (record_tree.h). Images are
// sorted by their path within their folder, so that the folders' own paths do
// not matter. Throws what FindImages() and FindRecordImages() throw, and
// UsageError when the inputs do not match: split folders in some and plain
// class folders in others, or the same file name in the same class and split
// twice; records may have the same name. Requires: at least one input.
[[nodiscard]] ImageTree FindImagesIn(
    const std::vector<std::string>& raw_data_dirs,
    const FindImagesOptions& options = {});

}  // namespace infeed
