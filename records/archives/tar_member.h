#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "records/bytes/byte_source.h"

// The members of a tar archive: v7, ustar, pax and GNU headers.
//
//   [extension header, its data]... header, data     begin .. end
//   ...
//   two blocks of zeros
//
// Headers are one block; data are padded to whole blocks.
namespace infeed {

inline constexpr std::size_t kTarBlockBytes = 512;

// Returns bytes of an archive, fewer than requested only at its end. The view
// is valid until the next call.
using ReadTarBytes = std::function<std::span<const std::byte>(
    std::int64_t offset, std::size_t bytes)>;

// Reads a file by pages of 4 KiB, an object at a URL by 1 MiB. The source must
// outlive the function. One thread at a time.
[[nodiscard]] ReadTarBytes BytesOf(const ByteSource& source);

// Bytes in memory, which must outlive the function.
[[nodiscard]] ReadTarBytes BytesOf(std::span<const std::byte> bytes);

enum class TarKind {
  kFile,
  kFolder,
  kLink,    // hard or symbolic; has no data
  kSparse,  // a file with holes: the data are a map and the parts between them
  kOther    // a device, a volume label, ...
};

// Why a sparse file cannot be read.
inline constexpr std::string_view kSparseFault =
    "is a sparse file: pack the archive again without --sparse";

struct TarMember {
  std::string name;
  // Where a link leads, from the archive's root unless it is absolute; empty:
  // no link. May have "..".
  std::string link = {};
  TarKind kind = TarKind::kFile;
  // Offsets in the archive.
  std::int64_t begin = 0;  // of the first header, extension headers included
  std::int64_t data = 0;
  std::int64_t bytes = 0;  // of the data as stored
  std::int64_t end = 0;    // behind the data's padding
};

// Walks the members of an archive in order. It reads headers only; the offsets
// that it requests never decrease, so that a stream can serve them, and a
// caller may read a member's data before the next call of Next().
//
// One thread at a time. Throws DataError, with path and offset, and what the
// function throws.
class TarWalk {
 public:
  // path: for messages. begin: offset of a member's first header.
  TarWalk(ReadTarBytes read, std::string path, std::int64_t begin = 0);

  // Returns the next member; nullopt at the end, which is two blocks of zeros,
  // or the end of the bytes after a whole member or one such block. Throws
  // DataError for a damaged header, a wrong size, a malformed extension, data
  // behind the end other than zeros, or a member that is cut short; if that is
  // in its data, the call after the one that returned it throws.
  [[nodiscard]] std::optional<TarMember> Next();

 private:
  struct Header;
  struct Extensions;

  TarMember ReadMember(std::int64_t begin, const Header& header,
                       const Extensions& extensions);
  std::optional<Header> ReadHeader();
  void RefuseMore();
  void ReadExtension(const Header& header, Extensions& extensions);
  [[nodiscard]] std::span<const std::byte> ReadWhole(std::int64_t offset,
                                                     std::int64_t bytes) const;

  ReadTarBytes read_;
  std::string path_;
  std::int64_t begin_;
  std::int64_t offset_;    // of the next header
  std::string last_name_;  // of what ends at offset_
  bool at_end_ = false;
};

// Whether a file that begins with these bytes is a tar: its first block is a
// header with a correct checksum.
[[nodiscard]] bool IsTar(std::span<const std::byte> start);

// A member's name as messages show it: without control characters, and cut off
// if it is long.
[[nodiscard]] std::string TarNameForMessages(std::string_view name);

// Whether a name is absolute or has "..": no place below a folder.
[[nodiscard]] bool TarNameLeadsOut(std::string_view name);

// The rest is shared with the writer.

struct TarField {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

// The fields of a header. Numbers are octal digits.
inline constexpr TarField kTarName = {0, 100};
inline constexpr TarField kTarMode = {100, 8};
inline constexpr TarField kTarOwner = {108, 8};
inline constexpr TarField kTarGroup = {116, 8};
inline constexpr TarField kTarSize = {124, 12};
inline constexpr TarField kTarTime = {136, 12};
inline constexpr TarField kTarChecksum = {148, 8};
inline constexpr TarField kTarType = {156, 1};
inline constexpr TarField kTarLink = {157, 100};
inline constexpr TarField kTarMagic = {257, 8};     // with the version
inline constexpr TarField kTarPrefix = {345, 155};  // ustar: name's folders

// A longer name is not read, nor written.
inline constexpr std::size_t kMaxTarNameBytes = std::size_t{64} << 10;

// The sum of a header's bytes, its checksum field taken as blanks. Requires:
// one block.
[[nodiscard]] std::int64_t TarChecksum(std::span<const std::byte> header);

// The bytes that data take in whole blocks. Requires: 0 <= bytes <= 2^62.
[[nodiscard]] constexpr std::int64_t TarPadded(std::int64_t bytes) {
  constexpr auto kBlock = static_cast<std::int64_t>(kTarBlockBytes);
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

}  // namespace infeed
