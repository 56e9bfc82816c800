#pragma once

#include <string>
#include <vector>

#include "records/tfrecord/reader.h"
#include "tests/support/bytes.h"

namespace infeed {

// The payloads of a shard's records, in order.
inline std::vector<std::string> ReadPayloads(const std::string& path) {
  TfrecordReader reader(path);
  std::vector<std::string> payloads;
  while (const auto record = reader.Next()) {
    payloads.push_back(AsText(record->payload));
  }
  return payloads;
}

}  // namespace infeed
