#pragma once

#include <memory>
#include <string>

#include "records/tfrecord/byte_stream.h"

namespace infeed {

// Unpacks a gzip stream of one or several members, or a zlib stream: the one
// reader of zlib's. What stands before damage is delivered; then Read() throws
// DataError, without an origin, with the place in the packed bytes.
// `name` stands in messages. Requires: compression is not kNone.
[[nodiscard]] std::unique_ptr<ByteStream> InflateStream(
    std::unique_ptr<ByteStream> packed, std::string name,
    Compression compression);

}  // namespace infeed
