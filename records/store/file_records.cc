#include "records/store/file_records.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "records/archives/tar_index_file.h"
#include "records/archives/tar_member.h"
#include "records/archives/tar_samples.h"
#include "records/archives/zip_classes.h"
#include "records/archives/zip_directory.h"
#include "records/archives/zip_index_file.h"
#include "records/bytes/image_header.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/side_file.h"
#include "records/files/unreadable_format.h"
#include "records/store/image_record.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/frame_scan.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/stream_buffer.h"

namespace infeed {
namespace {

constexpr std::size_t kStreamBytes = std::size_t{256} << 10;
// Of a file that holds no records.
constexpr std::int64_t kDescribedBytes = std::int64_t{1} << 20;
constexpr std::size_t kTextBytes = 4096;

FileRecords ToRecords(const ByteSource& file, ShardFrames frames) {
  FileRecords records = {.format = RecordFormat::kTfrecord,
                         .compression = frames.compression,
                         .bytes = file.size()};
  records.lengths.reserve(frames.offsets.size());
  for (std::size_t i = 0; i < frames.offsets.size(); ++i) {
    // The payload's length follows from the offset of the next frame.
    const std::int64_t end = i + 1 < frames.offsets.size()
                                 ? frames.offsets[i + 1]
                                 : frames.stream_bytes;
    records.lengths.push_back(end - frames.offsets[i] - kFrameOverhead);
    records.longest_payload =
        std::max(records.longest_payload, records.lengths.back());
  }
  records.offsets = std::move(frames.offsets);
  return records;
}

FileRecords ToRecords(const ByteSource& file, TarFileIndex index) {
  FileRecords records = {.format = RecordFormat::kTar,
                         .compression = index.compression,
                         .bytes = file.size(),
                         .labels = std::move(index.samples.labels)};
  const std::vector<std::int64_t>& offsets = index.samples.offsets;
  records.lengths.reserve(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    records.lengths.push_back(
        (i + 1 < offsets.size() ? offsets[i + 1] : index.samples.end) -
        offsets[i]);
    records.longest_payload = std::max(
        records.longest_payload, ImageRecordBytes(records.lengths.back()));
  }
  records.offsets = std::move(index.samples.offsets);
  return records;
}

void NoteBadNames(const std::vector<std::string>& names,
                  const std::string& path, std::vector<std::string>& notes) {
  if (!names.empty()) {
    notes.push_back(
        PathForMessages(path) + ": entries left out, as they are links or " +
        "their names lead out of the archive: " + std::to_string(names.size()) +
        ", the first " + names.front());
  }
}

// A zip named after a split ("train.zip") is of it as a whole.
FileRecords ToRecords(const ByteSource& file, const std::string& split,
                      ZipImages zip) {
  const bool names_split = !SplitInName(FileNameOf(file.path())).empty();
  KeepSplit(names_split ? "" : split, zip);
  FileRecords records = {.format = RecordFormat::kZip,
                         .bytes = file.size(),
                         .classes = std::move(zip.classes)};
  for (const ZipImages::Image& image : zip.images) {
    records.offsets.push_back(image.offset);
    records.lengths.push_back(image.extent);
    records.labels.push_back(image.class_index < 0 ? kNoLabel
                                                   : image.class_index + 1);
    records.longest_payload =
        std::max(records.longest_payload,
                 ImageRecordBytes(std::max(image.extent, image.bytes)));
  }
  NoteBadNames(zip.bad_names, file.path(), records.notes);
  return records;
}

bool IsWithin(const FileRecords& records, std::int64_t max_record_bytes) {
  return records.longest_payload <= ImageRecordBytes(max_record_bytes) &&
         std::ranges::all_of(records.lengths, [&](std::int64_t length) {
           return length <= max_record_bytes;
         });
}

// Index files are optional: if they cannot be written, the index is built each
// time; `records index` reports why.
template <typename Save>
std::string SaveIfPossible(const FileRecordsOptions& options,
                           const Save& save) {
  if (!options.use_cache) {
    return "";
  }
  try {
    return save();
  } catch (const IoError&) {  // The next process builds the index again.
    if (options.must_keep) {
      throw;
    }
    return "";
  }
}

// The records that an index file names; nullopt: there is no usable one.
std::optional<FileRecords> KeptRecords(const ByteSource& file,
                                       const std::string& split) {
  if (std::optional<ShardFrames> frames = FindFrames(file)) {
    return ToRecords(file, *std::move(frames));
  }
  if (std::optional<TarFileIndex> tar = FindTarIndex(file)) {
    return ToRecords(file, *std::move(tar));
  }
  if (std::optional<ZipImages> zip = FindZipIndex(file)) {
    return ToRecords(file, split, *std::move(zip));
  }
  return std::nullopt;
}

// The first index file of a file on this machine, of whatever it is; "": none.
std::string FindIndexFile(const ByteSource& file) {
  std::vector<std::string> paths = SidePaths(file.path(), ".index");
  const auto found = std::ranges::find_if(paths, [](const std::string& path) {
    std::error_code ignored;
    return !IsUrl(path) && std::filesystem::exists(path, ignored);
  });
  return found == paths.end() ? "" : std::move(*found);
}

// The bytes of an unpacked stream at offsets that only grow.
class StreamBytes {
 public:
  explicit StreamBytes(const ByteSource& file)
      : buffer_(OpenStream(file), kStreamBytes) {}

  std::span<const std::byte> At(std::int64_t offset, std::size_t bytes) {
    while (seen_ < offset) {
      buffer_.Release(seen_);
      const std::size_t got =
          buffer_
              .View(seen_, static_cast<std::size_t>(std::min<std::int64_t>(
                               kStreamBytes, offset - seen_)))
              .size();
      if (got == 0) {
        return {};
      }
      seen_ += static_cast<std::int64_t>(got);
    }
    buffer_.Release(offset);
    const std::span<const std::byte> view = buffer_.View(offset, bytes);
    seen_ = std::max(seen_, offset + static_cast<std::int64_t>(view.size()));
    return view;
  }

 private:
  StreamBuffer buffer_;
  std::int64_t seen_ = 0;  // end of what the buffer has returned
};

FileRecords ScanTarFile(const ByteSource& file, Compression compression,
                        const FileRecordsOptions& options) {
  TarFileIndex index = {.compression = compression};
  if (compression == Compression::kNone) {
    index.samples =
        ScanTar(BytesOf(file), file.path(), options.max_record_bytes);
  } else {
    StreamBytes stream(file);
    index.samples =
        ScanTar([&](std::int64_t offset,
                    std::size_t bytes) { return stream.At(offset, bytes); },
                file.path(), options.max_record_bytes);
  }
  std::string path =
      SaveIfPossible(options, [&] { return SaveTarIndex(file, index); });
  FileRecords records = ToRecords(file, std::move(index));
  records.index_file = std::move(path);
  return records;
}

// What a file is that holds no records, and what to do with it; "" if it is not
// known.
std::string DescribeOther(const ByteSource& file) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(
      std::min<std::int64_t>(kDescribedBytes, file.size())));
  bytes.resize(file.ReadAt(0, bytes));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  if (const auto format = FindImageFormat(bytes); !format.empty()) {
    return "a " + std::string(format) +
           " image, not a file of records: give the folder that has a folder "
           "of images for each class, or make shards of a table of images by "
           "imagenet_to_records --manifest";
  }
  if (const auto format = FindUnreadableFormat(bytes); !format.empty()) {
    return "no file of records; " + UnreadableReason(format);
  }
  if (text.starts_with("PAR1")) {
    return "a Parquet file: `infeed convert FILE.parquet SHARDS` of the Python "
           "package makes shards of it";
  }
  const bool is_text =
      std::ranges::none_of(text.substr(0, kTextBytes), [](unsigned char c) {
        return c < ' ' && c != '\n' && c != '\r' && c != '\t';
      });
  return is_text && !text.empty()
             ? "a text file, not a file of records: of a table of images "
               "imagenet_to_records --manifest makes shards"
             : "";
}

// Says of a file that holds no records what it is.
ShardFrames ScanOrDescribe(const ByteSource& file,
                           std::int64_t max_record_bytes) {
  try {
    return ScanShard(file, max_record_bytes);
  } catch (const DataError& error) {
    const std::string other =
        error.origin().record > 0 ? "" : DescribeOther(file);
    if (other.empty()) {
      throw;
    }
    throw DataError({.path = PathForMessages(file.path())}, other);
  }
}

FileRecords ScanFrameFile(const ByteSource& file,
                          const FileRecordsOptions& options) {
  ShardFrames frames = ScanOrDescribe(file, options.max_record_bytes);
  std::string path =
      SaveIfPossible(options, [&] { return SaveFrames(file, frames); });
  FileRecords records = ToRecords(file, std::move(frames));
  records.index_file = std::move(path);
  return records;
}

FileRecords ReadZip(const ByteSource& file, const FileRecordsOptions& options) {
  ZipImages zip = FindZipImages(ReadZipDirectory(file));
  for (const ZipImages::Image& image : zip.images) {
    if (std::max(image.extent, image.bytes) > options.max_record_bytes) {
      throw DataError({file.path(), -1, image.offset},
                      "the entry has " + std::to_string(image.bytes) +
                          " bytes, more than max_record_bytes");
    }
  }
  std::string path =
      SaveIfPossible(options, [&] { return SaveZipIndex(file, zip); });
  FileRecords records = ToRecords(file, options.split, std::move(zip));
  records.index_file = std::move(path);
  return records;
}

struct FileKind {
  RecordFormat format = RecordFormat::kTfrecord;
  Compression compression = Compression::kNone;
};

// Whether the unpacked stream of a file is a tar.
bool IsPackedTar(const ByteSource& file) {
  const std::unique_ptr<ByteStream> stream = OpenStream(file);
  std::array<std::byte, kTarBlockBytes> block{};
  try {
    return IsTar(std::span(block).first(stream->Read(block)));
  } catch (const DataError&) {  // The scan says where the stream is damaged.
    return false;
  }
}

FileKind DetectKind(const ByteSource& file) {
  std::array<std::byte, kTarBlockBytes> block{};
  const auto start = std::span(block).first(file.ReadAt(0, block));
  const Compression compression = DetectCompression(start);
  const bool is_packed = compression != Compression::kNone;
  if (is_packed ? IsPackedTar(file) : IsTar(start)) {
    return {RecordFormat::kTar, compression};
  }
  return {
      !is_packed && IsZip(start) ? RecordFormat::kZip : RecordFormat::kTfrecord,
      compression};
}

FileRecords ScanFile(const ByteSource& file,
                     const FileRecordsOptions& options) {
  const FileKind kind = DetectKind(file);
  switch (kind.format) {
    case RecordFormat::kZip:
      return ReadZip(file, options);
    case RecordFormat::kTar:
      return ScanTarFile(file, kind.compression, options);
    default:
      return ScanFrameFile(file, options);
  }
}

}  // namespace

std::string_view RecordFormatName(RecordFormat format) {
  switch (format) {
    case RecordFormat::kTfrecord:
      return "TFRecord";
    case RecordFormat::kTar:
      return "tar";
    case RecordFormat::kZip:
      return "zip";
    case RecordFormat::kImage:
      return "image";
  }
  return "";
}

RecordFormat DetectFormat(const ByteSource& file) {
  return DetectKind(file).format;
}

IndexState FindIndexState(const ByteSource& file) {
  return KeptRecords(file, "")         ? IndexState::kFresh
         : FindIndexFile(file).empty() ? IndexState::kNone
                                       : IndexState::kStale;
}

FileRecords FindRecords(const ByteSource& file,
                        const FileRecordsOptions& options) {
  std::string stale;
  if (options.use_cache && options.use_kept) {
    std::optional<FileRecords> kept = KeptRecords(file, options.split);
    if (kept && IsWithin(*kept, options.max_record_bytes)) {
      return *std::move(kept);
    }
    stale = kept ? "" : FindIndexFile(file);
  }
  FileRecords records = ScanFile(file, options);
  records.stale_index_file = std::move(stale);
  return records;
}

}  // namespace infeed
