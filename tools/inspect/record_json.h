#pragma once

#include <string>
#include <vector>

#include "records/tfrecord/reader.h"

namespace infeed {

struct RecordJsonOptions {
  std::vector<std::string> keys;  // features to show; all when empty
  // A folder for bytes that are not text; "": they are only counted.
  std::string bytes_to;
};

// Returns a record as one line of JSON without its newline: its place, its
// size, and the features of its tf.train.Example. Bytes that are not text are
// shown as {"bytes": N}; with bytes_to they are also written to the file
// SHARD-RECORD-KEY.EXTENSION, which "file" then names. Throws DataError for a
// record that is not an Example, IoError for a file that cannot be written.
[[nodiscard]] std::string RecordJsonLine(const std::string& path,
                                         const Record& record,
                                         const RecordJsonOptions& options = {});

}  // namespace infeed
