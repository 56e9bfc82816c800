#include "records/archives/zip_directory.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/bytes/little_endian.h"
#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

constexpr std::uint64_t kLocalSignature = 0x04034B50;         // "PK\3\4"
constexpr std::uint64_t kEntrySignature = 0x02014B50;         // "PK\1\2"
constexpr std::uint64_t kEndSignature = 0x06054B50;           // "PK\5\6"
constexpr std::uint64_t kZip64EndSignature = 0x06064B50;      // "PK\6\6"
constexpr std::uint64_t kZip64LocatorSignature = 0x07064B50;  // "PK\6\7"

constexpr std::size_t kLocalBytes = 30;  // without name and extra field
constexpr std::size_t kEntryBytes = 46;  // without name, extra field, comment
constexpr std::size_t kEndBytes = 22;    // without comment
constexpr std::size_t kZip64EndBytes = 56;
constexpr std::size_t kZip64LocatorBytes = 20;
constexpr std::size_t kMaxCommentBytes = 65535;

// More than the longest entry of the directory.
constexpr std::size_t kWindowBytes = std::size_t{1} << 20;

constexpr std::size_t kExtraHeaderBytes = 4;
constexpr std::uint64_t kZip64ExtraId = 1;
constexpr std::uint64_t kIsInExtra = 0xFFFFFFFF;

// Larger counts are reserved as entries are found, not as they are claimed.
constexpr std::uint64_t kMaxReserved = std::uint64_t{1} << 16;

// Where the directory lies, as the records at the end of the file have it.
struct EndRecord {
  std::int64_t directory_end = 0;  // offset in the file
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_offset = 0;  // from the archive's own first byte
  std::uint64_t count = 0;
  bool is_zip64 = false;
};

// Reads bytes that must be there: the file has them by its size.
void ReadAll(const ByteSource& zip, std::int64_t offset,
             std::span<std::byte> bytes) {
  if (zip.ReadAt(offset, bytes) != bytes.size()) {
    throw DataError({zip.path(), -1, offset},
                    "the file became shorter while it was read");
  }
}

// The directory's bytes, read a window at a time.
class DirectoryWindow {
 public:
  DirectoryWindow(const ByteSource& zip, std::int64_t begin, std::int64_t end)
      : zip_(zip), begin_(begin), end_(end), place_(begin) {}

  // Returns bytes of the directory, valid until the next call. Requires: bytes
  // <= kWindowBytes, and offset does not decrease. Throws DataError, without
  // origin, if the directory ends before.
  std::span<const std::byte> View(std::int64_t offset, std::size_t bytes) {
    if (bytes > static_cast<std::uint64_t>(end_ - offset)) {
      throw DataError("the zip directory ends inside an entry");
    }
    const auto skipped = static_cast<std::uint64_t>(offset - place_);
    if (skipped + bytes <= window_.size()) {
      return std::span(window_).subspan(skipped, bytes);
    }
    window_.resize(BytesWithin(kWindowBytes, end_ - offset));
    ReadAll(zip_, offset, window_);
    place_ = offset;
    return std::span(window_).first(bytes);
  }

  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  const ByteSource& zip_;
  std::int64_t begin_;
  std::int64_t end_;
  std::int64_t place_;  // of the window in the file
  std::vector<std::byte> window_;
};

// Finds the end record in the last bytes of the file: the one whose comment
// ends with the file.
std::optional<std::size_t> FindEndRecord(std::span<const std::byte> tail) {
  if (tail.size() < kEndBytes) {
    return std::nullopt;
  }
  for (std::size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
    if (LittleEndianAt(tail, at, 4) == kEndSignature &&
        LittleEndianAt(tail, at + 20, 2) == tail.size() - at - kEndBytes) {
      return at;
    }
  }
  return std::nullopt;
}

[[noreturn]] void FailSeveralDisks(const ByteSource& zip, std::int64_t offset) {
  throw DataError({zip.path(), -1, offset},
                  "the zip is split over several disks: join its parts "
                  "(zip -s 0 PARTS --out WHOLE)");
}

EndRecord ParseEndRecord(const ByteSource& zip, std::int64_t offset,
                         std::span<const std::byte> record) {
  const std::uint64_t count = LittleEndianAt(record, 10, 2);
  if (LittleEndianAt(record, 4, 2) != 0 || LittleEndianAt(record, 6, 2) != 0 ||
      LittleEndianAt(record, 8, 2) != count) {
    FailSeveralDisks(zip, offset);
  }
  return {.directory_end = offset,
          .directory_bytes = LittleEndianAt(record, 12, 4),
          .directory_offset = LittleEndianAt(record, 16, 4),
          .count = count};
}

// Reads the zip64 end record at an offset if there is one that ends at its
// locator.
std::optional<EndRecord> ReadZip64EndRecord(const ByteSource& zip,
                                            std::uint64_t offset,
                                            std::int64_t locator) {
  const auto end = static_cast<std::uint64_t>(locator);
  if (end < kZip64EndBytes || offset > end - kZip64EndBytes) {
    return std::nullopt;
  }
  const auto at = static_cast<std::int64_t>(offset);
  std::vector<std::byte> record(kZip64EndBytes);
  ReadAll(zip, at, record);
  // The size does not count itself and the signature.
  if (LittleEndianAt(record, 0, 4) != kZip64EndSignature ||
      LittleEndianAt(record, 4, 8) != end - offset - 12) {
    return std::nullopt;
  }
  const std::uint64_t count = LittleEndianAt(record, 32, 8);
  if (LittleEndianAt(record, 16, 4) != 0 ||
      LittleEndianAt(record, 20, 4) != 0 ||
      LittleEndianAt(record, 24, 8) != count) {
    FailSeveralDisks(zip, at);
  }
  return EndRecord{.directory_end = at,
                   .directory_bytes = LittleEndianAt(record, 40, 8),
                   .directory_offset = LittleEndianAt(record, 48, 8),
                   .count = count,
                   .is_zip64 = true};
}

// Reads the zip64 end record that a locator points to. Its offset does not
// count bytes before the archive, so the record may also be just before the
// locator.
EndRecord FollowLocator(const ByteSource& zip, std::int64_t offset,
                        std::span<const std::byte> locator) {
  if (LittleEndianAt(locator, 4, 4) != 0 ||
      LittleEndianAt(locator, 16, 4) > 1) {
    FailSeveralDisks(zip, offset);
  }
  std::optional<EndRecord> end =
      ReadZip64EndRecord(zip, LittleEndianAt(locator, 8, 8), offset);
  if (!end) {
    end = ReadZip64EndRecord(
        zip, static_cast<std::uint64_t>(offset) - kZip64EndBytes, offset);
  }
  if (!end) {
    throw DataError({zip.path(), -1, offset},
                    "the zip64 end record is missing or damaged");
  }
  return *end;
}

EndRecord ReadEndRecord(const ByteSource& zip) {
  constexpr std::size_t kTailBytes =
      kZip64LocatorBytes + kEndBytes + kMaxCommentBytes;
  std::vector<std::byte> tail(BytesWithin(kTailBytes, zip.size()));
  const std::int64_t tail_offset =
      zip.size() - static_cast<std::int64_t>(tail.size());
  ReadAll(zip, tail_offset, tail);
  const std::optional<std::size_t> at = FindEndRecord(tail);
  if (!at) {
    throw DataError({.path = zip.path()},
                    "is cut short, or no zip: it has no end record");
  }
  const auto bytes = std::span<const std::byte>(tail);
  if (*at >= kZip64LocatorBytes) {
    const std::size_t locator = *at - kZip64LocatorBytes;
    if (LittleEndianAt(bytes, locator, 4) == kZip64LocatorSignature) {
      return FollowLocator(zip,
                           tail_offset + static_cast<std::int64_t>(locator),
                           bytes.subspan(locator, kZip64LocatorBytes));
    }
  }
  return ParseEndRecord(zip, tail_offset + static_cast<std::int64_t>(*at),
                        bytes.subspan(*at));
}

// Checks what the end record claims before anything is allocated for it.
void CheckEndRecord(const ByteSource& zip, const EndRecord& end) {
  const auto available = static_cast<std::uint64_t>(end.directory_end);
  const DataError::Origin origin = {zip.path(), -1, end.directory_end};
  if (end.directory_bytes > available ||
      end.directory_offset > available - end.directory_bytes) {
    throw DataError(origin, "the zip directory lies outside the file: " +
                                std::to_string(end.directory_bytes) +
                                " bytes from byte " +
                                std::to_string(end.directory_offset));
  }
  if (end.count > kMaxZipEntries ||
      end.count > end.directory_bytes / kEntryBytes) {
    throw DataError(origin, "the zip claims " + std::to_string(end.count) +
                                " entries in a directory of " +
                                std::to_string(end.directory_bytes) + " bytes");
  }
}

// Places an entry in the file; its extent is the least that it needs. `shift`
// is the number of bytes before the archive. Requires: shift <= window.begin().
void Place(ArchiveFile& entry, std::uint64_t offset, std::uint64_t packed_bytes,
           std::uint64_t shift, const DirectoryWindow& window) {
  const auto limit = static_cast<std::uint64_t>(window.begin());
  const std::uint64_t header = kLocalBytes + entry.name.size();
  if (offset > limit - shift || header > limit - shift - offset ||
      packed_bytes > limit - shift - offset - header) {
    throw DataError("zip entry " + entry.name +
                    ": lies outside the file or in the directory: " +
                    std::to_string(packed_bytes) + " packed bytes from byte " +
                    std::to_string(offset));
  }
  entry.offset = static_cast<std::int64_t>(offset + shift);
  entry.extent = static_cast<std::int64_t>(header + packed_bytes);
}

// Whether a Unix program wrote the entry for a symbolic link. Its file mode is
// the upper half of the external attributes (APPNOTE.TXT 4.4.2, Info-ZIP).
bool IsLink(std::span<const std::byte> header) {
  constexpr std::uint64_t kUnix = 3;
  constexpr std::uint64_t kFileType = 0170000;
  constexpr std::uint64_t kLink = 0120000;
  return LittleEndianAt(header, 5, 1) == kUnix &&
         (LittleEndianAt(header, 40, 2) & kFileType) == kLink;
}

// Parses the directory's entry at an offset, which moves behind it.
ArchiveFile ParseEntry(DirectoryWindow& window, std::uint64_t shift,
                       std::int64_t& offset) {
  auto header = window.View(offset, kEntryBytes);
  if (LittleEndianAt(header, 0, 4) != kEntrySignature) {
    throw DataError("the zip directory is damaged: no entry begins here");
  }
  const std::size_t name_bytes = LittleEndianAt(header, 28, 2);
  const std::size_t extra_bytes = LittleEndianAt(header, 30, 2);
  const std::size_t all_bytes =
      kEntryBytes + name_bytes + extra_bytes + LittleEndianAt(header, 32, 2);
  header = window.View(offset, all_bytes);
  const auto name = header.subspan(kEntryBytes, name_bytes);
  Zip64Extra zip64(header.subspan(kEntryBytes + name_bytes, extra_bytes));
  const std::uint64_t bytes = zip64.Widen(LittleEndianAt(header, 24, 4));
  const std::uint64_t packed = zip64.Widen(LittleEndianAt(header, 20, 4));
  const std::uint64_t start = zip64.Widen(LittleEndianAt(header, 42, 4));
  ArchiveFile entry = {.name = std::string(AsChars(name)),
                       .bytes = static_cast<std::int64_t>(bytes),
                       .is_readable = !IsLink(header)};
  if (entry.bytes < 0) {
    throw DataError("zip entry " + entry.name + ": claims " +
                    std::to_string(bytes) + " bytes");
  }
  Place(entry, start, packed, shift, window);
  offset += static_cast<std::int64_t>(all_bytes);
  return entry;
}

// Whether the end record claims the number of entries that were found. Writers
// without zip64 store the lowest 16 bits of larger numbers (macOS).
bool HasCount(const EndRecord& end, std::size_t found) {
  return end.count == found || (!end.is_zip64 && end.count == (found & 0xFFFF));
}

// Parses all entries, those of folders too, in the directory's order.
std::vector<ArchiveFile> ParseEntries(const ByteSource& zip,
                                      DirectoryWindow& window,
                                      const EndRecord& end) {
  const std::uint64_t shift =
      static_cast<std::uint64_t>(window.begin()) - end.directory_offset;
  std::vector<ArchiveFile> entries;
  entries.reserve(std::min(end.count, kMaxReserved));
  std::int64_t offset = window.begin();
  try {
    while (offset < window.end()) {
      if (entries.size() >= kMaxZipEntries) {
        throw DataError("the zip has more than " +
                        std::to_string(kMaxZipEntries) + " entries");
      }
      entries.push_back(ParseEntry(window, shift, offset));
    }
  } catch (const DataError& error) {
    throw error.At({zip.path(), -1, offset});
  }
  if (!HasCount(end, entries.size())) {
    throw DataError({zip.path(), -1, end.directory_end},
                    "the zip claims " + std::to_string(end.count) +
                        " entries, but its directory has " +
                        std::to_string(entries.size()));
  }
  return entries;
}

// Sets the extents of all entries, which may not reach into each other.
void SetExtents(const ByteSource& zip, std::vector<ArchiveFile>& entries,
                std::int64_t directory) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ArchiveFile& entry = entries[i];
    const bool is_last = i + 1 == entries.size();
    const std::int64_t least = entry.extent;
    entry.extent = (is_last ? directory : entries[i + 1].offset) - entry.offset;
    if (entry.extent < least) {
      throw DataError({zip.path(), -1, entry.offset},
                      "zip entry " + entry.name + ": overlaps " +
                          (is_last ? "the directory" : entries[i + 1].name));
    }
  }
}

void CheckNamesDiffer(const ByteSource& zip,
                      const std::vector<ArchiveFile>& entries) {
  std::vector<std::pair<std::string_view, std::int64_t>> names;
  names.reserve(entries.size());
  for (const ArchiveFile& entry : entries) {
    names.emplace_back(entry.name, entry.offset);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(
      names.begin(), names.end(),
      [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != names.end()) {
    throw DataError({zip.path(), -1, std::next(twice)->second},
                    "zip entry " + std::string(twice->first) +
                        ": the name occurs twice, first at byte " +
                        std::to_string(twice->second));
  }
}

}  // namespace

bool IsZip(std::span<const std::byte> first_bytes) {
  if (first_bytes.size() < 4) {
    return false;
  }
  const std::uint64_t signature = LittleEndianAt(first_bytes, 0, 4);
  return signature == kLocalSignature || signature == kEndSignature;
}

std::vector<ArchiveFile> ReadZipDirectory(const ByteSource& zip) {
  const EndRecord end = ReadEndRecord(zip);
  CheckEndRecord(zip, end);
  const std::int64_t begin =
      end.directory_end - static_cast<std::int64_t>(end.directory_bytes);
  zip.WillRead(begin, end.directory_end - begin);
  DirectoryWindow window(zip, begin, end.directory_end);
  std::vector<ArchiveFile> entries = ParseEntries(zip, window, end);
  SetExtents(zip, entries, begin);
  std::erase_if(entries, [](const ArchiveFile& entry) {
    return entry.name.ends_with('/') ||
           // As written on Windows.
           (entry.name.ends_with('\\') && entry.bytes == 0);
  });
  CheckNamesDiffer(zip, entries);
  return entries;
}

Zip64Extra::Zip64Extra(std::span<const std::byte> extra) {
  while (extra.size() >= kExtraHeaderBytes) {
    const std::uint64_t id = LittleEndianAt(extra, 0, 2);
    const std::size_t bytes = LittleEndianAt(extra, 2, 2);
    extra = extra.subspan(kExtraHeaderBytes);
    if (bytes > extra.size()) {
      return;
    }
    if (id == kZip64ExtraId) {
      numbers_ = extra.first(bytes);
      return;
    }
    extra = extra.subspan(bytes);
  }
}

std::uint64_t Zip64Extra::Widen(std::uint64_t field) {
  if (field != kIsInExtra) {
    return field;
  }
  if (numbers_.size() < 8) {
    throw DataError("a zip64 extra field is missing or too short");
  }
  const std::uint64_t number = LittleEndianAt(numbers_, 0, 8);
  numbers_ = numbers_.subspan(8);
  return number;
}

}  // namespace infeed
