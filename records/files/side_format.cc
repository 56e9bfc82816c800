#include "records/files/side_format.h"

#include <memory>
#include <span>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/fnv_hash.h"
#include "records/bytes/little_endian.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr std::uint64_t kSideVersion = 1;
constexpr std::int64_t kMaxSideBytes = std::int64_t{1} << 33;

}  // namespace

std::string SideTrailer(std::string_view magic, const SideSource& source,
                        std::string_view checked) {
  Check(magic.size() == 8, "the magic has eight bytes");
  std::string trailer(magic);
  AppendLittleEndian(trailer, kSideVersion, 8);
  AppendLittleEndian(trailer, static_cast<std::uint64_t>(source.size), 8);
  AppendLittleEndian(trailer, static_cast<std::uint64_t>(source.version), 8);
  const std::uint32_t crc =
      ExtendCrc32c(Crc32c(std::as_bytes(std::span(checked))),
                   std::as_bytes(std::span(trailer)));
  AppendLittleEndian(trailer, crc, 4);
  return trailer;
}

std::optional<SideSource> ParseSideTrailer(
    std::string_view magic, std::string_view checked_and_trailer) {
  if (checked_and_trailer.size() < kSideTrailerBytes) {
    return std::nullopt;
  }
  const std::size_t end = checked_and_trailer.size() - kSideTrailerBytes;
  const auto bytes = std::as_bytes(std::span(checked_and_trailer));
  const SideSource source = {
      .size = static_cast<std::int64_t>(LittleEndianAt(bytes, end + 16, 8)),
      .version = static_cast<std::int64_t>(LittleEndianAt(bytes, end + 24, 8))};
  const bool is_good =
      checked_and_trailer.substr(end) ==
      SideTrailer(magic, source, checked_and_trailer.substr(0, end));
  return is_good ? std::optional(source) : std::nullopt;
}

std::optional<SideFile> ReadSideFile(const std::string& path,
                                     std::string_view magic) {
  try {
    const std::unique_ptr<ByteSource> file = OpenSource(path);
    if (file->size() > kMaxSideBytes) {
      return std::nullopt;
    }
    std::string text(static_cast<std::size_t>(file->size()), '\0');
    text.resize(file->ReadAt(0, std::as_writable_bytes(std::span(text))));
    const std::optional<SideSource> source = ParseSideTrailer(magic, text);
    if (!source) {
      return std::nullopt;
    }
    text.resize(text.size() - kSideTrailerBytes);
    return SideFile{.source = *source, .payload = std::move(text)};
  } catch (const IoError&) {
    return std::nullopt;
  }
}

void WriteSideFile(const std::string& path, std::string_view magic,
                   const SideSource& source, std::string_view payload) {
  if (!IsUrl(path)) {
    MakeFolder(ParentFolder(path), "create", 1);
  }
  const std::unique_ptr<ByteSink> file = OpenSink(path, kInOwnFolder);
  file->Write(payload);
  file->Write(SideTrailer(magic, source, payload));
  file->Commit();
}

std::string SaveSideFile(const ByteSource& source, std::string_view ending,
                         std::string_view magic, std::string_view payload) {
  std::string path = SidePathToWrite(source.path(), ending);
  WriteSideFile(path, magic, SideSource::Of(source), payload);
  return path;
}

// FOLDER/lock is that of a conversion.
FolderLock LockSideFile(const std::string& path) {
  return {ParentFolder(path) + "/seek.lock",
          FolderLock::ToPlace(FnvHash(path))};
}

}  // namespace infeed
