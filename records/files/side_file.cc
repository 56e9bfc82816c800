#include "records/files/side_file.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/cache_folder.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/fnv_hash.h"
#include "records/bytes/little_endian.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::atomic<int> without_side_files = 0;

std::string MakeName(const std::string& shard, std::string_view ending) {
  return fs::path(shard).filename().string().append(ending);
}

// Makes the folder if needed; returns whether it exists, is no link and is
// writable. Its last name is ours.
bool MakeWritableFolder(const std::string& folder) {
  try {
    const Descriptor opened = MakeAndOpenFolder(folder, 1);
    return ::faccessat(opened.get(), ".", W_OK | X_OK, 0) == 0;
  } catch (const IoError&) {
    return false;
  }
}

// Makes one of the folders, from `first` on. Throws IoError if none can be.
std::string FirstWritable(const std::vector<std::string>& folders,
                          std::size_t first) {
  if (without_side_files > 0) {
    throw IoError("this run writes no side files");
  }
  for (std::size_t i = first; i < folders.size(); ++i) {
    if (MakeWritableFolder(folders[i])) {
      return folders[i];
    }
  }
  throw IoError(
      "cannot make a folder for side files: neither " + folders[0] + " nor " +
      (folders.size() > 1 ? folders[1] : "~/.cache (HOME is not set)") +
      " can be written");
}

constexpr std::uint64_t kSideVersion = 1;
constexpr std::int64_t kMaxSideBytes = std::int64_t{1} << 33;

}  // namespace

WithoutSideFiles::WithoutSideFiles() { ++without_side_files; }

WithoutSideFiles::~WithoutSideFiles() { --without_side_files; }

std::string KeyedEnding(std::string_view ending, std::string_view key,
                        std::string_view standard) {
  return (key == standard ? "" : "." + FnvHashText(key)).append(ending);
}

std::string SidePathBeside(const std::string& shard, std::string_view ending) {
  return ParentFolder(shard) + "/.infeed/" + MakeName(shard, ending);
}

std::vector<std::string> SidePaths(const std::string& shard,
                                   std::string_view ending) {
  std::vector<std::string> paths;
  for (const std::string& folder : SideFolders(ParentFolder(shard))) {
    paths.push_back(folder + "/" + MakeName(shard, ending));
  }
  if (IsUrl(shard)) {
    std::reverse(paths.begin(), paths.end());
  }
  return paths;
}

std::string SidePathToWrite(const std::string& shard, std::string_view ending) {
  return SideFolder(ParentFolder(shard)) + "/" + MakeName(shard, ending);
}

std::vector<std::string> SideFolders(const std::string& data_folder) {
  std::vector<std::string> folders = {
      (fs::path(data_folder) / ".infeed").string()};
  if (const std::string cache = UserCacheFolder(); !cache.empty()) {
    folders.push_back(
        (fs::path(cache) / "infeed" /
         FnvHashText(
             IsUrl(data_folder)
                 ? data_folder
                 : fs::absolute(data_folder).lexically_normal().string()))
            .string());
  }
  return folders;
}

std::string SideFolder(const std::string& data_folder) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(data_folder, ignored);
  return FirstWritable(SideFolders(data_folder), is_folder ? 0 : 1);
}

std::string CachedSideFolder(const std::string& data_folder) {
  return FirstWritable(SideFolders(data_folder), 1);
}

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
  if (source.version() == kNoVersion) {
    throw IoError(source.path() +
                  ": nothing can be kept of it: the server sends neither an "
                  "ETag nor Last-Modified, so a replaced file would not be "
                  "noticed");
  }
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
