#pragma once

#include <memory>

#include "records/bytes/byte_sink.h"
#include "records/tfrecord/compression.h"

namespace infeed {

// Packs what is written to it into another sink, as TensorFlow's writer does:
// level -1 (zlib's 6), window of 32 KiB, memory level 9. size() is that of the
// packed bytes so far, without those that zlib still holds. Requires:
// compression is not kNone.
[[nodiscard]] std::unique_ptr<ByteSink> DeflateSink(
    std::unique_ptr<ByteSink> packed, Compression compression);

}  // namespace infeed
