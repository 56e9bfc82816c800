#include "bench/common/stream_hash.h"

#include <span>

namespace infeed {

void StreamHash::Add(const Batch& batch) {
  hash_.Add(std::as_bytes(batch.pixels()));
  hash_.Add(std::as_bytes(batch.labels()));
}

std::string StreamHash::Finish() { return Hex(hash_.Finish()); }

}  // namespace infeed
