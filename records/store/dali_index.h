#pragma once

#include <string>
#include <string_view>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/index_file.h"

// The index of DALI's TFRecord reader (tfrecord2idx): a text file with a line
// "OFFSET BYTES" for each record, of its whole frame.
namespace infeed {

// Requires: the offsets are those of a shard of that size.
[[nodiscard]] std::string DaliIndexText(const FrameOffsets& offsets,
                                        std::int64_t shard_size);

// Takes such a text for a shard, and checks it against the shard: frames must
// follow each other from the first byte to the last, and each begin with a
// header that says its length. `name` is the text's file, for messages. Throws
// DataError naming the line.
[[nodiscard]] FrameOffsets ParseDaliIndex(std::string_view text,
                                          const std::string& name,
                                          const ByteSource& shard);

}  // namespace infeed
