#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/bytes/little_endian.h"
#include "tests/support/bytes.h"
#include "tests/support/raw_bytes.h"

namespace infeed {

// One file of a zip archive to be built. Every field can be set to a wrong
// value.
struct ZipMember {
  std::string name;
  std::string packed;  // as it is in the archive
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t method = 0;
  std::uint64_t flags = 0;
  std::string extra = "";  // of the local header
  std::string descriptor = "";
  std::uint64_t mode = 0;  // of a file on Unix
};

inline std::uint32_t Crc32(const std::string& bytes) {
  const std::string gzip = Gzipped(bytes);
  return static_cast<std::uint32_t>(
      LittleEndianAt(AsBytes(gzip), gzip.size() - 8, 4));
}

inline ZipMember StoredMember(std::string name, const std::string& bytes) {
  return {.name = std::move(name),
          .packed = bytes,
          .bytes = bytes.size(),
          .crc32 = Crc32(bytes)};
}

// The deflate stream is that of a gzip file, between its header and trailer.
inline ZipMember DeflatedMember(std::string name, const std::string& bytes) {
  const std::string gzip = Gzipped(bytes);
  return {.name = std::move(name),
          .packed = gzip.substr(10, gzip.size() - 18),
          .bytes = bytes.size(),
          .crc32 = Crc32(bytes),
          .method = 8};
}

// A data descriptor; width: bytes of each size.
inline std::string ZipDescriptor(const ZipMember& member, std::size_t width,
                                 bool has_signature) {
  std::string text = has_signature ? "PK\7\10" : "";
  AppendLittleEndian(text, member.crc32, 4);
  AppendLittleEndian(text, member.packed.size(), width);
  AppendLittleEndian(text, member.bytes, width);
  return text;
}

// A local header with the data behind it: the extent of an entry.
inline std::string ZipExtent(const ZipMember& member) {
  const bool is_described = !member.descriptor.empty();
  std::string text = "PK\3\4";
  AppendLittleEndian(text, 20, 2);
  AppendLittleEndian(text, member.flags | (is_described ? 8U : 0U), 2);
  AppendLittleEndian(text, member.method, 2);
  AppendLittleEndian(text, 0, 4);  // date
  AppendLittleEndian(text, is_described ? 0 : member.crc32, 4);
  AppendLittleEndian(text, is_described ? 0 : member.packed.size(), 4);
  AppendLittleEndian(text, is_described ? 0 : member.bytes, 4);
  AppendLittleEndian(text, member.name.size(), 2);
  AppendLittleEndian(text, member.extra.size(), 2);
  return text + member.name + member.extra + member.packed + member.descriptor;
}

// Overwrites a number of `width` bytes.
inline void PutNumber(std::string& bytes, std::size_t offset,
                      std::uint64_t value, std::size_t width) {
  std::string number;
  AppendLittleEndian(number, value, width);
  Check(offset + width <= bytes.size(), "the number is in the bytes");
  bytes.replace(offset, width, number);
}

// The bytes of a zip archive. Its end record is its last 22 bytes.
class ZipBuilder {
 public:
  ZipBuilder& Add(const ZipMember& member) {
    return AddAt(entries_.size(), member, ZipExtent(member));
  }
  // Adds a directory entry for an offset, with any bytes, or none, of data.
  ZipBuilder& AddAt(std::uint64_t offset, const ZipMember& member,
                    const std::string& extent) {
    entries_ += extent;
    directory_ += "PK\1\2";
    AppendLittleEndian(directory_, member.mode == 0 ? 20 : 0x300 + 20, 2);
    AppendLittleEndian(directory_, 20, 2);
    AppendLittleEndian(directory_, member.flags, 2);
    AppendLittleEndian(directory_, member.method, 2);
    AppendLittleEndian(directory_, 0, 4);
    AppendLittleEndian(directory_, member.crc32, 4);
    AppendLittleEndian(directory_, member.packed.size(), 4);
    AppendLittleEndian(directory_, member.bytes, 4);
    AppendLittleEndian(directory_, member.name.size(), 2);
    directory_.append(10, '\0');
    AppendLittleEndian(directory_, member.mode, 2);
    AppendLittleEndian(directory_, offset, 4);
    directory_ += member.name;
    ++count_;
    return *this;
  }

  [[nodiscard]] std::size_t directory_offset() const { return entries_.size(); }
  [[nodiscard]] std::string bytes(const std::string& comment = "") const {
    std::string text = entries_ + directory_ + "PK\5\6";
    AppendLittleEndian(text, 0, 4);
    AppendLittleEndian(text, count_, 2);
    AppendLittleEndian(text, count_, 2);
    AppendLittleEndian(text, directory_.size(), 4);
    AppendLittleEndian(text, entries_.size(), 4);
    AppendLittleEndian(text, comment.size(), 2);
    return text + comment;
  }

 private:
  std::string entries_;
  std::string directory_;
  std::uint64_t count_ = 0;
};

}  // namespace infeed
