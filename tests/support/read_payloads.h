#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/tfrecord/reader.h"
#include "tests/support/bytes.h"

namespace infeed {

// Gives each record to on_record, and each DataError to on_error, up to the
// end.
template <typename OnRecord, typename OnError>
void ReadPastErrors(TfrecordReader& reader, OnRecord on_record,
                    OnError on_error) {
  for (bool more = true; more;) {
    try {
      const std::optional<Record> record = reader.Next();
      more = record.has_value();
      if (more) {
        on_record(*record);
      }
    } catch (const DataError& error) {
      on_error(error);
    }
  }
}

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
