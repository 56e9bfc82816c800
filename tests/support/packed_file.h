#pragma once

#include <cstddef>
#include <string>

#include "base/atomic_file.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/byte_stream.h"

namespace infeed {

// Writes bytes to a file as a gzip or zlib stream, and returns its path.
inline const std::string& WritePacked(
    const std::string& path, const std::string& bytes,
    Compression compression = Compression::kGzip) {
  const auto sink = DeflateSink(OpenSink(path), compression);
  sink->Write(bytes);
  sink->Commit();
  return path;
}

// Overwrites the second half of a packed file with bytes that are no blocks.
inline void BreakInTheMiddle(const std::string& path) {
  std::string bytes = ReadWholeFile(path, 1 << 30);
  const std::size_t middle = bytes.size() / 2;
  bytes.replace(middle, bytes.size() - middle, bytes.size() - middle, '\xff');
  WriteFileAtomically(path, bytes);
}

}  // namespace infeed
