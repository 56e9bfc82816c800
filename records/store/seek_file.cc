#include "records/store/seek_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/own_files.h"
#include "base/parent_folder.h"
#include "records/bytes/little_endian.h"
#include "records/bytes/payload.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"

namespace infeed {
namespace {

constexpr std::string_view kSeekEnding = ".seek";
constexpr std::string_view kSeekMagic = "infeedSK";
constexpr std::size_t kSeekNumberBytes = 8;
// The end of the payload, which the trailer's checksum covers: the numbers of
// records and of the run.
constexpr std::size_t kSeekEndBytes = 2 * kSeekNumberBytes;
constexpr std::size_t kFooterBytes = kSeekEndBytes + kSideTrailerBytes;

std::int64_t NumberAt(std::span<const std::byte> bytes, std::size_t offset) {
  return static_cast<std::int64_t>(
      LittleEndianAt(bytes, offset, kSeekNumberBytes));
}

// Bytes of the table of offsets: one for each entry and one for their end.
std::int64_t TableBytes(std::int64_t records) {
  return (records + 1) * static_cast<std::int64_t>(kSeekNumberBytes);
}

// The ending of the seek file of an image folder: one folder has an index for
// each split, and others when files come and go.
std::string EndingOfImages(const RecordIndex& images) {
  return KeyedEnding(kSeekEnding, images.identity(), "");
}

// Null where mapping is not possible, or the file has another size by now.
std::unique_ptr<const MappedFile> MappedWhole(const ByteSource& source) {
  std::unique_ptr<const MappedFile> mapped = MappedFile::Map(source.path());
  const bool is_whole = mapped && std::ssize(mapped->bytes()) == source.size();
  return is_whole ? std::move(mapped) : nullptr;
}

bool ReadsFully(const ByteSource& source, std::int64_t offset,
                std::span<std::byte> destination) {
  return source.ReadAt(offset, destination) == destination.size();
}

}  // namespace

SeekFile::SeekFile(std::unique_ptr<ByteSource> source, const SeekFileInfo& info)
    : source_(std::move(source)),
      mapped_(MappedWhole(*source_)),
      info_(info),
      table_(source_->size() - static_cast<std::int64_t>(kFooterBytes) -
             TableBytes(info_.records)) {}

std::unique_ptr<const SeekFile> SeekFile::Find(
    const std::string& shard, std::int64_t shard_size,
    std::optional<std::int64_t> records, std::string_view image_key) {
  return Largest(
      SidePaths(shard, KeyedEnding(kSeekEnding, image_key, kImageKey)),
      [&](const SeekFileInfo& info) {
        return info.shard_size == shard_size &&
               info.records == records.value_or(info.records);
      });
}

std::unique_ptr<const SeekFile> SeekFile::Find(const RecordIndex& index,
                                               std::size_t shard,
                                               std::string_view image_key) {
  if (!index.is_of_images()) {
    return Find(index.shards()[shard], index.shard_bytes(shard),
                index.shard_size(shard), image_key);
  }
  if (index.kept_root().empty()) {
    return nullptr;
  }
  return Largest(
      SidePaths(index.kept_root(), EndingOfImages(index)),
      [&](const SeekFileInfo& info) { return info.records == index.size(); });
}

std::unique_ptr<const SeekFile> SeekFile::Largest(
    const std::vector<std::string>& paths,
    const std::function<bool(const SeekFileInfo&)>& fits) {
  std::unique_ptr<const SeekFile> largest;
  for (const std::string& path : paths) {
    if (IsUrl(path)) {
      continue;  // For a remote file, two requests a record cost more than it
                 // saves.
    }
    std::optional<SeekFile> file = Open(path);
    if (file && fits(file->info()) &&
        (largest == nullptr || file->size() > largest->size())) {
      largest = std::make_unique<const SeekFile>(*std::move(file));
    }
  }
  return largest;
}

std::optional<SeekFile> SeekFile::Open(const std::string& path) {
  try {
    auto source = std::make_unique<FileSource>(path);
    const std::int64_t footer_offset =
        source->size() - static_cast<std::int64_t>(kFooterBytes);
    std::string footer(kFooterBytes, '\0');
    const auto bytes = std::as_writable_bytes(std::span(footer));
    if (footer_offset < 0 || !ReadsFully(*source, footer_offset, bytes)) {
      return std::nullopt;
    }
    const std::optional<SideSource> shard =
        ParseSideTrailer(kSeekMagic, footer);
    const std::int64_t records = NumberAt(bytes, 0);
    if (!shard || records < 0 ||
        records >= footer_offset / std::int64_t{kSeekNumberBytes}) {
      return std::nullopt;
    }
    return SeekFile(
        std::move(source),
        {.shard_size = shard->size,
         .shard_version = shard->version,
         .records = records,
         .run = static_cast<int>(NumberAt(bytes, kSeekNumberBytes))});
  } catch (const IoError&) {  // Counts as absent: it can be made again.
    return std::nullopt;
  }
}

bool SeekFile::ReadAt(std::int64_t offset,
                      std::span<std::byte> destination) const {
  if (mapped_ == nullptr || mapped_->is_damaged()) {
    return ReadsFully(*source_, offset, destination);
  }
  std::ranges::copy(mapped_->bytes().subspan(static_cast<std::size_t>(offset),
                                             destination.size()),
                    destination.begin());
  return !mapped_->is_damaged();
}

std::span<const std::byte> SeekFile::Read(
    std::int64_t record, std::int64_t max_bytes,
    std::vector<std::byte>& buffer) const {
  try {
    std::array<std::byte, 2 * kSeekNumberBytes> place{};
    if (!ReadAt(table_ + record * std::int64_t{kSeekNumberBytes}, place)) {
      return {};
    }
    const std::int64_t begin = NumberAt(place, 0);
    const std::int64_t end = NumberAt(place, kSeekNumberBytes);
    if (begin < 0 || begin >= end || end > table_ || end - begin > max_bytes) {
      return {};
    }
    const auto bytes = static_cast<std::size_t>(end - begin);
    if (buffer.size() < bytes) {
      buffer.resize(bytes);
    }
    const auto entry = std::span(buffer).first(bytes);
    return ReadAt(begin, entry) ? entry : std::span<const std::byte>();
  } catch (const IoError&) {
    return {};
  }
}

SeekFileWriter::SeekFileWriter(const ByteSource& shard, int run,
                               std::string_view image_key)
    : SeekFileWriter(
          SidePathToWrite(shard.path(),
                          KeyedEnding(kSeekEnding, image_key, kImageKey)),
          {.shard_size = shard.size(),
           .shard_version = shard.version(),
           .run = run}) {}

SeekFileWriter::SeekFileWriter(const RecordIndex& images, int run)
    : SeekFileWriter(
          SidePathToWrite(images.kept_root(), EndingOfImages(images)),
          {.run = run}) {}

SeekFileWriter::SeekFileWriter(std::string path, const SeekFileInfo& info)
    : path_(std::move(path)),
      info_(info),
      sink_(OpenSink(path_, kInOwnFolder)) {}

void SeekFileWriter::Append(std::string_view sealed) {
  offsets_.push_back(sink_->size());
  sink_->Write(sealed);
}

void SeekFileWriter::Close() {
  const std::array<std::int64_t, 2> end = {std::ssize(offsets_), info_.run};
  offsets_.push_back(sink_->size());
  std::string tail;
  AppendNumbers(tail, offsets_);
  AppendNumbers(tail, end);
  sink_->Write(tail);
  sink_->Write(SideTrailer(
      kSeekMagic, {.size = info_.shard_size, .version = info_.shard_version},
      std::string_view(tail).substr(tail.size() - kSeekEndBytes)));
  sink_->Commit();
}

namespace {

// A shard, or the images of a folder, as the subject of a seek file.
struct SeekSubject {
  std::string path;  // of the file to write
  SeekFileInfo info;
  std::int64_t first_record = 0;
};

// nullopt: the shard is no longer the one that was indexed.
std::optional<SeekSubject> SubjectOf(const RecordIndex& index,
                                     std::size_t shard,
                                     std::string_view image_key) {
  if (index.is_of_images()) {
    // In the cache, as the folder's listing: nothing appears unasked beside
    // somebody's photographs.
    const std::filesystem::path root(index.kept_root());
    return SeekSubject{
        .path = CachedSideFolder(ParentFolder(index.kept_root())) + "/" +
                root.filename().string() + EndingOfImages(index),
        .info = {.records = index.size()}};
  }
  const std::unique_ptr<ByteSource> source = OpenSource(index.shards()[shard]);
  if (source->size() != index.shard_bytes(shard)) {
    return std::nullopt;
  }
  SeekSubject subject = {
      .path = SidePathToWrite(source->path(),
                              KeyedEnding(kSeekEnding, image_key, kImageKey)),
      .info = {.shard_size = source->size(),
               .shard_version = source->version(),
               .records = index.shard_size(shard)}};
  for (std::size_t i = 0; i < shard; ++i) {
    subject.first_record += index.shard_size(i);
  }
  return subject;
}

}  // namespace

void AddToSeekFile(
    const RecordIndex& index, std::size_t shard, std::string_view image_key,
    const std::function<AddedSeekIndex(std::int64_t number)>& found) {
  const std::optional<SeekSubject> subject = SubjectOf(index, shard, image_key);
  if (!subject) {
    return;
  }
  const FolderLock lock = LockSideFile(subject->path);
  const auto old = SeekFile::Find(index, shard, image_key);
  SeekFileInfo info = subject->info;
  info.run = kFoundRun;
  SeekFileWriter writer(subject->path, info);
  std::vector<std::byte> buffer;
  for (std::int64_t number = 0; number < info.records; ++number) {
    const AddedSeekIndex added = found(number);
    std::span<const std::byte> kept;
    if (old != nullptr && !added.replaces) {
      const std::int64_t bytes =
          index.at(subject->first_record + number).length;
      kept = old->Read(number, LongestSeekIndex(bytes), buffer);
    }
    writer.Append(added.sealed.size() > kept.size()
                      ? std::string_view(added.sealed)
                      : AsChars(kept));
  }
  writer.Close();
}

SeekStore::SeekStore(const RecordIndex& index, std::size_t max_open,
                     std::string_view image_key)
    : index_(index),
      max_open_(max_open),
      image_key_(image_key),
      places_(index.is_of_images() ? 1 : index.shards().size()) {
  Check(max_open > 0, "a file can be open");
}

std::span<const std::byte> SeekStore::Read(
    std::int64_t record, std::vector<std::byte>& buffer) const {
  const RecordLocation location = index_.at(record);
  const bool of_images = index_.is_of_images();
  const std::shared_ptr<const SeekFile> file =
      Open(of_images ? 0 : static_cast<std::size_t>(location.shard));
  return file ? file->Read(of_images ? record : location.number,
                           LongestSeekIndex(location.length), buffer)
              : std::span<const std::byte>();
}

void SeekStore::Reopen(std::size_t number) {
  const std::lock_guard lock(mutex_);
  if (places_[number].file) {
    std::erase(open_, number);
  }
  places_[number] = {};
}

std::shared_ptr<const SeekFile> SeekStore::Open(std::size_t number) const {
  {
    const std::lock_guard lock(mutex_);
    const Place& place = places_[number];
    if (place.is_missing || place.file) {
      return place.file;
    }
  }
  // Opened without the lock, so that other threads can read meanwhile. Two
  // threads may open the same file at once; the first one's file is kept.
  std::shared_ptr<const SeekFile> file =
      SeekFile::Find(index_, number, image_key_);
  const std::lock_guard lock(mutex_);
  Place& place = places_[number];
  if (!place.file) {
    place.is_missing = file == nullptr;
    place.file = file;
    if (file) {
      open_.push_back(number);
    }
    if (open_.size() > max_open_) {
      places_[open_.front()].file = nullptr;  // Closed by its last reader.
      open_.pop_front();
    }
  }
  return file;
}

}  // namespace infeed
