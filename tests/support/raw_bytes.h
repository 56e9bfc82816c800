#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "records/files/open_sink.h"
#include "records/tfrecord/byte_stream.h"
#include "tests/support/temporary_folder.h"

// The bytes of raw data files, built small.
namespace infeed {

// An IDX file of bytes: "\0\0\x08", the number of sizes, the sizes, the values.
inline std::string IdxBytes(std::initializer_list<std::uint32_t> sizes,
                            std::string_view values) {
  std::string bytes("\0\0\x08", 3);
  bytes.push_back(static_cast<char>(sizes.size()));
  for (const std::uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(size >> shift));
    }
  }
  return bytes.append(values);
}

// COUNT bytes 0, 1, 2 and so on, beginning at `first`.
inline std::string Counting(std::size_t count, int first = 0) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<char>(first + static_cast<int>(i)));
  }
  return bytes;
}

inline std::string Gzipped(std::string_view bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "packed.gz";
  const auto sink = DeflateSink(OpenSink(path), Compression::kGzip);
  sink->Write(bytes);
  sink->Commit();
  return ReadWholeFile(path, std::int64_t{1} << 30);
}

// A CIFAR-10 record whose pixels are counted from `first`.
inline std::string CifarRecord(int label, int first = 0) {
  return static_cast<char>(label) + Counting(3072, first);
}

}  // namespace infeed
