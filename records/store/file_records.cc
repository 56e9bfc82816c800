#include "records/store/file_records.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "records/archives/archive_images.h"
#include "records/archives/archive_index_file.h"
#include "records/archives/tar_member.h"
#include "records/archives/tar_samples.h"
#include "records/archives/zip_directory.h"
#include "records/archives/zip_entry.h"
#include "records/bytes/image_header.h"
#include "records/bytes/plain_text.h"
#include "records/files/image_layout.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/files/split_names.h"
#include "records/files/unreadable_format.h"
#include "records/store/image_record.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/index_file.h"

namespace infeed {
namespace {

constexpr std::size_t kStreamBytes = std::size_t{256} << 10;

FileRecords ToRecords(const ByteSource& file, const ShardSplit& /*split*/,
                      ShardFrames frames) {
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

// Whether a file without splits inside is of the split that is wanted.
bool IsWanted(const ShardSplit& split) {
  return split.wanted.empty() ||
         split.wanted == (split.said.empty() ? "train" : split.said);
}

FileRecords ToRecords(const ByteSource& file, const ShardSplit& split,
                      TarFileIndex index) {
  FileRecords records = {.format = RecordFormat::kTar,
                         .compression = index.compression,
                         .bytes = file.size()};
  if (!IsWanted(split)) {
    return records;
  }
  records.labels = std::move(index.samples.labels);
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

// The splits of the images; empty where the archive has no folders of splits.
std::set<std::string> SplitsIn(const ArchiveImages& found) {
  std::set<std::string> splits;
  for (std::size_t i = 0; found.has_splits && i < kSplits.size(); ++i) {
    const auto is_of_split = [i](const ArchiveImages::Image& image) {
      return image.split == static_cast<std::int32_t>(i);
    };
    if (std::ranges::any_of(found.images, is_of_split)) {
      splits.emplace(kSplits[i]);
    }
  }
  return splits;
}

FileRecords ToRecords(const ByteSource& file, const ShardSplit& split,
                      ArchiveFileIndex index) {
  if (index.found.has_splits) {
    KeepSplit(split.wanted, index.found);
  } else if (!IsWanted(split)) {
    index.found.images.clear();
  }
  FileRecords records = {
      .format = index.is_tar ? RecordFormat::kTarTree : RecordFormat::kZip,
      .compression = index.compression,
      .bytes = file.size(),
      .classes = std::move(index.found.classes),
      .class_texts = std::move(index.found.class_texts),
      .notes = std::move(index.found.notes)};
  records.splits = SplitsIn(index.found);
  for (const ArchiveImages::Image& image : index.found.images) {
    records.offsets.push_back(image.offset);
    records.lengths.push_back(image.extent);
    records.labels.push_back(image.class_index < 0 ? kNoLabel
                                                   : image.class_index + 1);
    records.longest_payload =
        std::max(records.longest_payload,
                 ImageRecordBytes(std::max(image.extent, image.bytes)));
  }
  return records;
}

bool IsWithin(const FileRecords& records, std::int64_t max_record_bytes) {
  return records.longest_payload <= ImageRecordBytes(max_record_bytes) &&
         std::ranges::all_of(records.lengths, [&](std::int64_t length) {
           return length <= max_record_bytes;
         });
}

// Saves the index of a file and returns its records. Index files are optional:
// if they cannot be written, the index is built each time; `records index`
// reports why.
template <typename Index, typename Save>
FileRecords KeepIndex(const ByteSource& file, Index index, const Save& save,
                      const FileRecordsOptions& options) {
  std::string path;
  try {
    path = options.use_cache ? save(file, index) : "";
  } catch (const IoError&) {  // The next process builds the index again.
    if (options.must_keep) {
      throw;
    }
  }
  FileRecords records = ToRecords(file, options.split, std::move(index));
  records.index_file = std::move(path);
  return records;
}

// The records that an index file names; nullopt: there is no usable one.
std::optional<FileRecords> KeptRecords(const ByteSource& file,
                                       const ShardSplit& split) {
  if (std::optional<ShardFrames> frames = FindFrames(file)) {
    return ToRecords(file, split, *std::move(frames));
  }
  if (std::optional<TarFileIndex> tar = FindTarIndex(file)) {
    return ToRecords(file, split, *std::move(tar));
  }
  if (std::optional<ArchiveFileIndex> tree = FindArchiveIndex(file)) {
    return ToRecords(file, split, *std::move(tree));
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

void CheckSizes(const ByteSource& file, const ArchiveImages& found,
                const FileRecordsOptions& options) {
  for (const ArchiveImages::Image& image : found.images) {
    if (std::max(image.extent, image.bytes) > options.max_record_bytes) {
      throw DataError({file.path(), -1, image.offset},
                      "the entry has " + std::to_string(image.bytes) +
                          " bytes, more than max_record_bytes");
    }
  }
}

FileRecords KeepTree(const ByteSource& file, ArchiveFileIndex index,
                     const FileRecordsOptions& options) {
  CheckSizes(file, index.found, options);
  return KeepIndex(file, std::move(index), SaveArchiveIndex, options);
}

// A file in an archive, for messages.
std::string MemberPath(const ByteSource& archive, const ArchiveFile& file) {
  return PathForMessages(archive.path()) + "#" +
         NameText(ArchiveName(file.name));
}

[[noreturn]] void FailOfLongLabels(const ByteSource& archive,
                                   const ArchiveFile& file) {
  throw DataError({.path = MemberPath(archive, file)},
                  "the label files have more bytes than the limit of " +
                      std::to_string(kMaxLabelFileBytes));
}

// Calls scan with a function that returns bytes of the unpacked tar.
template <typename Scan>
auto ScanTarFile(const ByteSource& file, Compression compression,
                 const Scan& scan) {
  if (compression == Compression::kNone) {
    return scan(BytesOf(file));
  }
  StreamBuffer stream(OpenStream(file), kStreamBytes);
  return scan(ReadTarBytes([&](std::int64_t offset, std::size_t bytes) {
    return stream.ViewAhead(offset, bytes);
  }));
}

FileRecords ReadTar(const ByteSource& file, Compression compression,
                    const FileRecordsOptions& options) {
  TarScan scan = ScanTarFile(file, compression, [&](const ReadTarBytes& read) {
    return ScanTar(read, file.path(), options.max_record_bytes);
  });
  ArchiveFileIndex tree = {.is_tar = true, .compression = compression};
  if (!scan.files.empty()) {
    tree.found = FindArchiveImages(
        file.path(), scan.files, [&](const ArchiveFile& label_file) {
          const auto text = scan.label_files.find(label_file.offset);
          if (text == scan.label_files.end()) {
            FailOfLongLabels(file, label_file);
          }
          return text->second;
        });
  }
  if (compression != Compression::kNone) {  // It is unpacked in its own order.
    std::ranges::stable_sort(tree.found.images, {},
                             &ArchiveImages::Image::offset);
  }
  if (!tree.found.classes.empty()) {
    return KeepTree(file, std::move(tree), options);
  }
  return KeepIndex(file,
                   TarFileIndex{.compression = compression,
                                .samples = std::move(scan.samples)},
                   SaveTarIndex, options);
}

// As ScanShard(); the error of a file that has no records says what it is.
ShardFrames ScanOrDescribe(const ByteSource& file,
                           std::int64_t max_record_bytes) {
  try {
    return ScanShard(file, max_record_bytes);
  } catch (const DataError& error) {
    const std::string other =
        error.origin().record > 0 ? "" : DescribeOtherFile(file);
    if (other.empty()) {
      throw;
    }
    throw DataError({.path = PathForMessages(file.path())}, other);
  }
}

FileRecords ScanFrameFile(const ByteSource& file,
                          const FileRecordsOptions& options) {
  return KeepIndex(file, ScanOrDescribe(file, options.max_record_bytes),
                   SaveFrames, options);
}

std::string ReadLabelEntry(const ByteSource& zip, const ArchiveFile& entry) {
  if (std::max(entry.extent, entry.bytes) > kMaxLabelFileBytes) {
    FailOfLongLabels(zip, entry);
  }
  std::vector<std::byte> extent(static_cast<std::size_t>(entry.extent));
  (void)zip.ReadAt(entry.offset, extent);
  std::vector<std::byte> buffer;
  try {
    const ZipFile file = ReadZipEntry(extent, kMaxLabelFileBytes, buffer);
    return std::string(AsChars(file.bytes));
  } catch (const DataError& error) {
    throw DataError({.path = MemberPath(zip, entry)}, error.reason());
  }
}

FileRecords ReadZip(const ByteSource& file, const FileRecordsOptions& options) {
  ArchiveFileIndex index;
  index.found = FindArchiveImages(
      file.path(), ReadZipDirectory(file),
      [&](const ArchiveFile& entry) { return ReadLabelEntry(file, entry); });
  return KeepTree(file, std::move(index), options);
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
      return ReadTar(file, kind.compression, options);
    default:
      return ScanFrameFile(file, options);
  }
}

constexpr std::int64_t kDescribedBytes = std::int64_t{1} << 20;
constexpr std::size_t kTextBytes = 4096;

// A format by the bytes that its files begin with.
struct OtherFile {
  std::string_view start;
  std::string_view what;
};
constexpr std::array<OtherFile, 9> kOtherFiles = {
    {{"PAR1",
      "a Parquet file: `infeed convert FILE.parquet SHARDS` of the Python "
      "package makes shards of it"},
     {"ARROW1", "an Arrow file, not a file of records: save it as Parquet"},
     {"\x89HDF", "an HDF5 file, not a file of records: export its images"},
     {"\x93NUMPY", "a NumPy array, not a file of records: export its images"},
     {"\xFD"
      "7zXZ",
      "packed by xz: unpack it, or pack it as .tar.gz or .zip"},
     {"BZh", "packed by bzip2: unpack it, or pack it as .tar.gz or .zip"},
     {"\x28\xB5\x2F\xFD",
      "packed by zstd: unpack it, or pack it as .tar.gz or .zip"},
     {"7z\xBC\xAF", "packed by 7-Zip: unpack it, or pack it as .zip"},
     {"Rar!", "packed by RAR: unpack it, or pack it as .zip"}}};

}  // namespace

std::string_view RecordFormatName(RecordFormat format) {
  switch (format) {
    case RecordFormat::kTfrecord:
      return "TFRecord";
    case RecordFormat::kTar:
    case RecordFormat::kTarTree:
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
  return KeptRecords(file, {})         ? IndexState::kFresh
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

bool HasSplitFolders(const ByteSource& file, bool use_cache) {
  const auto [format, compression] = DetectKind(file);
  const bool may_have =
      format == RecordFormat::kTar
          ? ScanTarFile(file, compression,
                        [&](const ReadTarBytes& read) {
                          return BeginsInSplitFolder(read, file.path());
                        })
          : format == RecordFormat::kZip;
  try {
    return may_have &&
           !FindRecords(file, {.use_cache = use_cache}).splits.empty();
  } catch (const UsageError&) {  // A test.zip without classes, for example.
    return false;
  }
}

std::string DescribeOtherFile(const ByteSource& file) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(
      std::min<std::int64_t>(kDescribedBytes, file.size())));
  bytes.resize(file.ReadAt(0, bytes));
  const std::string_view text = AsChars(bytes);
  if (const auto format = FindImageFormat(bytes); !format.empty()) {
    return "a " + std::string(format) +
           " image, not a file of records: give the folder that has a folder "
           "of images for each class, or make shards of a table of images by "
           "imagenet_to_records --manifest";
  }
  if (const auto format = FindUnreadableFormat(bytes); !format.empty()) {
    return "no file of records; " + UnreadableReason(format);
  }
  for (const OtherFile& other : kOtherFiles) {
    if (text.starts_with(other.start)) {
      return std::string(other.what);
    }
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

}  // namespace infeed
