#include "bench/common/stream_hash.h"

#include <span>

namespace infeed {

void StreamHash::Add(const Batch& batch) {
  hash_.Add(batch.image_bytes());
  hash_.Add(std::as_bytes(batch.labels()));
}

std::string StreamHash::Finish() { return Hex(hash_.Finish()); }

}  // namespace infeed
