#pragma once

#include <string>

#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"

namespace infeed {

// The keys under which records hold the image and its label.
struct RecordKeys {
  std::string image{kImageKey};
  std::string label{kLabelKey};

  friend bool operator==(const RecordKeys&, const RecordKeys&) = default;
};

// Returns the keys of TFRecords that others made. A key other than the standard
// one was given by the user, and stays. A standard key that the first readable
// record lacks is replaced by one of the record's own: for the image a feature
// of one value that begins like an image file, "image" first; for the label one
// of "label", "image/label", "class", "image/object/class/label", "target" with
// one integer. Where there is none, the standard key stays, and reading says
// what is missing. Reads one record. Throws IoError.
[[nodiscard]] RecordKeys FindKeys(const RecordIndex& index,
                                  const RecordKeys& given = {});

}  // namespace infeed
