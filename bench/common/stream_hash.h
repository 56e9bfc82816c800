#pragma once

#include <string>

#include "pipeline/memory/batch.h"
#include "records/bytes/sha256.h"

namespace infeed {

// SHA-256 over the pixels, labels, fields, boxes and views of batches, in
// order: streams with equal hashes have equal batches. One thread at a time.
class StreamHash {
 public:
  void Add(const Batch& batch);

  // Returns 64 hex digits. Requires: called once, last.
  [[nodiscard]] std::string Finish();

 private:
  Sha256 hash_;
};

}  // namespace infeed
