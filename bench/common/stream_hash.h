#pragma once

#include <memory>
#include <string>

#include "pipeline/memory/batch.h"

namespace infeed {

// SHA-256 over the pixels and labels of batches, in order: two streams with
// the same hash are the same stream. One thread at a time.
class StreamHash {
 public:
  StreamHash();
  ~StreamHash();
  StreamHash(const StreamHash&) = delete;
  StreamHash& operator=(const StreamHash&) = delete;

  void Add(const Batch& batch);

  // Returns 64 hex digits. Requires: called once, last.
  [[nodiscard]] std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace infeed
