#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tools/convert/plan.h"
#include "tools/convert/record_maker.h"

namespace infeed {

// A shard while it is written: turns made records into the bytes of its format.
// The file appears under its name, complete, when Close() returns; without
// Close() nothing remains.
//
// One thread at a time. Throws IoError.
class ShardFile {
 public:
  virtual ~ShardFile() = default;

  // Appends a record that is not to be skipped. key: of its sample in a tar,
  // unique in the data set.
  virtual void Append(const ImageRecord& record, std::string_view key) = 0;
  // Completes the file. Requires: called once, last.
  virtual void Close() = 0;

  [[nodiscard]] virtual std::int64_t records() const = 0;
  // The file's bytes so far.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  // CRC-32C of the file. Requires: Close() returned.
  [[nodiscard]] virtual std::uint32_t crc32c() const = 0;
};

// Begins a shard. path: a file's.
[[nodiscard]] std::unique_ptr<ShardFile> OpenShardFile(const std::string& path,
                                                       ShardFormat format);

}  // namespace infeed
