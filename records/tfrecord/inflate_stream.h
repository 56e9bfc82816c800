#pragma once

#include <memory>
#include <string>

#include "records/tfrecord/byte_stream.h"

namespace infeed {

// Unpacks a gzip stream of one or several members, or a zlib stream; the only
// code that inflates with zlib. Bytes before damage are delivered; then Read()
// throws DataError, without an origin, with the place in the packed bytes.
// `name` is for messages. Requires: compression is not kNone.
[[nodiscard]] std::unique_ptr<ByteStream> InflateStream(
    std::unique_ptr<ByteStream> packed, std::string name,
    Compression compression);

}  // namespace infeed
