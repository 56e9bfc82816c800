#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "tests/support/bytes.h"

namespace infeed {

// A record's content: label, file name and image.
using Seen = std::vector<std::string>;

inline Seen See(const RecordIndex& index) {
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  Seen seen;
  for (std::int64_t record = 0; record < index.size(); ++record) {
    const ImagenetExampleView example =
        ParseImagenetExample(store.Read(record, buffer));
    seen.push_back(std::to_string(example.label) + " " +
                   std::string(example.filename) + " " +
                   AsText(example.encoded));
  }
  return seen;
}

}  // namespace infeed
