#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "records/store/record_index.h"
#include "tests/support/temporary_folder.h"

namespace infeed {

// The payload of a record with a small photograph of its own and label + 1, as
// converters number classes.
[[nodiscard]] std::string TestPayload(int label);
// The photograph of `image`, with another's label.
[[nodiscard]] std::string TestPayload(int image, std::int64_t label);

// A payload whose image is the given bytes.
[[nodiscard]] std::string PayloadWithImage(const std::string& encoded,
                                           std::int64_t label);

// The payloads of labels 0, 1, ... count - 1.
[[nodiscard]] std::vector<std::string> TestPayloads(int count);

// The payloads of labels 0, 1, 2, 3, 0, 1, ...
[[nodiscard]] std::vector<std::string> PayloadsOfFourClasses(int count);

void WriteShard(const std::string& path,
                const std::vector<std::string>& payloads);
// The only shard of a split.
void WriteShard(const TemporaryFolder& folder, const std::string& split,
                const std::vector<std::string>& payloads);

// A data set in a folder of its own: payloads in order, in shards of nearly
// equal size.
class TestShards {
 public:
  explicit TestShards(const std::vector<std::string>& payloads, int shards = 2);

  [[nodiscard]] const RecordIndex& index() const { return *index_; }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

  // Flips one bit of a record's payload, so that its checksum fails: in the
  // middle, or in the given byte.
  void Damage(std::int64_t record);
  void Damage(std::int64_t record, std::int64_t byte_of_payload);
  // Flips one bit of the record's length, so that its frame is invalid.
  void DamageHeader(std::int64_t record);

 private:
  // Turns over the lowest bit of one byte of a record's frame.
  void TurnBit(std::int64_t record, std::int64_t byte_of_frame);
  [[nodiscard]] const std::string& PathOf(std::int64_t record) const;

  TemporaryFolder folder_;
  std::unique_ptr<RecordIndex> index_;
};

}  // namespace infeed
