#include "bench/common/stream_hash.h"

#include <span>

namespace infeed {

void StreamHash::Add(const Batch& batch) {
  hash_.Add(batch.image_bytes());
  hash_.Add(std::as_bytes(batch.labels()));
  for (std::size_t i = 0; i < batch.field_specs().size(); ++i) {
    hash_.Add(batch.fixed(i));
    hash_.Add(std::as_bytes(batch.lengths(i)));
    const FieldColumn& ragged = batch.fields()[i];
    hash_.Add(std::as_bytes(std::span(ragged.offsets)));
    hash_.Add(std::as_bytes(std::span(ragged.int64s)));
    hash_.Add(std::as_bytes(std::span(ragged.floats)));
    hash_.Add(std::as_bytes(std::span(ragged.byte_offsets)));
    hash_.Add(std::as_bytes(std::span(ragged.bytes)));
  }
  if (!batch.boxes().xyxy.empty()) {
    hash_.Add(std::as_bytes(std::span(batch.boxes().offsets)));
    hash_.Add(std::as_bytes(std::span(batch.boxes().xyxy)));
  }
  for (std::size_t i = 0; i < batch.view_shapes().size(); ++i) {
    hash_.Add(batch.view(i));
  }
}

std::string StreamHash::Finish() { return Hex(hash_.Finish()); }

}  // namespace infeed
