#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "records/tfrecord/format.h"
#include "tests/support/bytes.h"

namespace infeed {

// The bytes of a TFRecord file, built and then damaged:
//   RecordFile().Add("a").Add("b").FlipByte(6).Truncate(3).Write(path);
class RecordFile {
 public:
  // Appends a record.
  RecordFile& Add(std::string_view payload) {
    AppendFrame(bytes_, payload);
    return *this;
  }
  // Appends bytes as they are.
  RecordFile& AddRaw(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }
  // Appends a header whose checksum is good, whatever it claims.
  RecordFile& AddHeader(std::uint64_t length) {
    bytes_.append(AsText(EncodeFrameHeader(length)));
    return *this;
  }
  // Inverts a byte.
  RecordFile& FlipByte(std::size_t offset) {
    Check(offset < bytes_.size(), "the byte is in the file");
    bytes_[offset] = static_cast<char>(~bytes_[offset]);
    return *this;
  }
  // Takes bytes off the end.
  RecordFile& Truncate(std::size_t bytes) {
    Check(bytes <= bytes_.size(), "there is as much to take off");
    bytes_.resize(bytes_.size() - bytes);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

  // Writes the file and returns its path.
  const std::string& Write(const std::string& path) const {
    std::ofstream(path, std::ios::binary) << bytes_;
    return path;
  }

 private:
  std::string bytes_;
};

}  // namespace infeed
