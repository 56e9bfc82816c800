#pragma once

#include <memory>

#include "records/bytes/byte_sink.h"
#include "records/tfrecord/compression.h"

namespace infeed {

// Returns a sink that compresses into another sink, with the settings of
// TensorFlow's writer: level -1 (zlib's 6), window of 32 KiB, memory level 9.
// size() counts the packed bytes so far, without those that zlib still holds.
// Requires: compression is not kNone.
[[nodiscard]] std::unique_ptr<ByteSink> DeflateSink(
    std::unique_ptr<ByteSink> packed, Compression compression);

}  // namespace infeed
