#pragma once

#include <string>
#include <string_view>

#include "records/bytes/byte_source.h"
#include "records/tfrecord/index_file.h"

// The index of DALI's TFRecord reader (tfrecord2idx): a text file with a line
// "OFFSET BYTES" for each record's whole frame.
namespace infeed {

// Requires: the offsets belong to a shard of that size.
[[nodiscard]] std::string DaliIndexText(const FrameOffsets& offsets,
                                        std::int64_t shard_size);

// Parses such a text and checks it against the shard: the frames must cover the
// shard without gaps, and each must begin with a header that has its length.
// `name` is the text's file, for messages. Throws DataError naming the line.
[[nodiscard]] FrameOffsets ParseDaliIndex(std::string_view text,
                                          const std::string& name,
                                          const ByteSource& shard);

}  // namespace infeed
