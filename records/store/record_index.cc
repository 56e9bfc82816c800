#include "records/store/record_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/number_bytes.h"
#include "records/bytes/byte_source.h"
#include "records/bytes/crc32c.h"
#include "records/cloud/cloud_runtime.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/shard_set.h"
#include "records/files/split_names.h"
#include "records/store/file_records.h"
#include "records/store/image_record.h"
#include "records/tfrecord/format.h"

namespace infeed {
namespace {

constexpr std::size_t kThreads = 16;

FileRecords LoadRecords(const std::string& path, const ShardSplit& split,
                        const RecordIndexOptions& options) {
  const std::unique_ptr<ByteSource> file = OpenSource(path);
  FileRecords records =
      FindRecords(*file, {.use_cache = options.use_cache,
                          .max_record_bytes = options.max_record_bytes,
                          .split = split});
  records.version = file->version();
  return records;
}

// Scans several files at once, as remote ones answer slowly.
std::vector<FileRecords> FindAllRecords(const std::vector<std::string>& files,
                                        const RecordIndexOptions& options) {
  std::vector<FileRecords> records(files.size());
  std::vector<std::future<void>> workers;
  for (std::size_t worker = 0; worker < std::min(kThreads, files.size());
       ++worker) {
    workers.push_back(std::async(std::launch::async, [&, worker] {
      for (std::size_t i = worker; i < files.size(); i += kThreads) {
        records[i] = LoadRecords(
            files[i], options.splits.empty() ? ShardSplit() : options.splits[i],
            options);
      }
    }));
  }
  for (std::future<void>& worker : workers) {
    worker.get();  // Rethrows; the destructors of the other futures wait.
  }
  return records;
}

// Counts records to reserve exact sizes: vectors grown record by record could
// take twice the memory, in each rank of a machine.
std::size_t CountRecords(const std::vector<FileRecords>& files) {
  return std::accumulate(files.begin(), files.end(), std::size_t{0},
                         [](std::size_t sum, const FileRecords& file) {
                           return sum + file.offsets.size();
                         });
}

// The classes of all archives, sorted by name.
std::vector<std::string> JoinClasses(const std::vector<FileRecords>& files) {
  std::set<std::string> names;
  for (const FileRecords& file : files) {
    names.insert(file.classes.begin(), file.classes.end());
  }
  return {names.begin(), names.end()};
}

// Renumbers a file's labels from its own classes to those of all files.
void Renumber(const std::vector<std::string>& classes, FileRecords& file) {
  if (file.classes.empty() || file.classes == classes) {
    return;
  }
  std::vector<std::int64_t> labels;
  for (const std::string& name : file.classes) {
    labels.push_back(std::ranges::lower_bound(classes, name) - classes.begin() +
                     1);
  }
  for (std::int64_t& label : file.labels) {
    label = label < 1 ? label : labels[static_cast<std::size_t>(label - 1)];
  }
}

// The splits of a file's records.
std::set<std::string> SplitsOf(const std::string& path,
                               const FileRecords& file) {
  if (file.offsets.empty() || !file.splits.empty()) {
    return file.splits;
  }
  std::string_view said = SplitInName(FileNameOf(path));
  if (said.empty()) {
    said = SplitNamed(FileNameOf(FolderOfShard(path)));
  }
  return {std::string(said.empty() ? "train" : said)};
}

// Adds a note if index files were outdated and made anew.
void NoteStale(const std::vector<FileRecords>& files,
               std::vector<std::string>& notes) {
  std::size_t stale = 0;
  std::string first;
  for (const FileRecords& file : files) {
    if (!file.stale_index_file.empty()) {
      first = stale == 0 ? file.stale_index_file : first;
      ++stale;
    }
  }
  if (stale == 1) {
    notes.push_back(
        first +
        ": was made for another version of its shard or by another "
        "one of infeed, or is damaged; the shard was indexed again");
  } else if (stale > 1) {
    notes.push_back(
        std::to_string(stale) +
        " index files were made for other versions of their "
        "shards or by other ones of infeed, or are damaged, such as " +
        first + "; the shards were indexed again");
  }
}

template <typename T>
void Append(const std::vector<T>& more, std::vector<T>& all) {
  all.insert(all.end(), more.begin(), more.end());
}

// The checksum of numbers, whose bytes are little-endian on every CPU: states
// hold it.
template <typename T>
std::uint32_t ExtendCrc32cBy(std::uint32_t crc, std::span<const T> numbers) {
  if constexpr (std::endian::native == std::endian::little) {
    return ExtendCrc32c(crc, std::as_bytes(numbers));
  }
  for (T number : numbers) {
    number = FromLittleEndian(number);
    crc = ExtendCrc32c(crc, std::as_bytes(std::span(&number, 1)));
  }
  return crc;
}

template <typename T>
std::uint32_t Crc32cOf(const std::vector<T>& numbers) {
  return ExtendCrc32cBy(0, std::span(numbers));
}

}  // namespace

RecordIndex::RecordIndex(std::vector<std::string> shards,
                         const RecordIndexOptions& options)
    : shards_(std::move(shards)),
      other_files_(options.other_files),
      uses_cache_(options.use_cache) {
  if (options.max_record_bytes <= 0) {
    throw UsageError("max_record_bytes must be positive, not " +
                     std::to_string(options.max_record_bytes));
  }
  std::vector<FileRecords> all = FindAllRecords(shards_, options);
  classes_ = JoinClasses(all);
  const bool have_labels = std::ranges::any_of(
      all, [](const FileRecords& file) { return !file.labels.empty(); });
  NoteStale(all, notes_);
  NoteOneClass(classes_, notes_);
  const std::size_t records = CountRecords(all);
  offsets_.reserve(records);
  lengths_.reserve(records);
  labels_.reserve(have_labels ? records : 0);
  starts_.push_back(0);
  for (std::size_t shard = 0; shard < all.size(); ++shard) {
    FileRecords& file = all[shard];
    splits_.merge(SplitsOf(shards_[shard], file));
    Renumber(classes_, file);
    Append(file.offsets, offsets_);
    Append(file.lengths, lengths_);
    Append(file.labels, labels_);
    labels_.resize(have_labels ? offsets_.size() : 0, kNoLabel);
    Append(file.notes, notes_);
    class_texts_.merge(file.class_texts);
    starts_.push_back(static_cast<std::int64_t>(offsets_.size()));
    shards_of_.push_back(
        {file.format, file.compression, file.bytes, file.version});
    max_length_ = std::max(max_length_, file.longest_payload);
  }
}

namespace {

// A file without a readable size counts as empty; reading it reports why.
// Throws UsageError for a folder.
std::int64_t SizeOfFile(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error == std::errc::is_a_directory) {
    throw UsageError(path +
                     ": is a folder, not an image file: give the files in it");
  }
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

// Requests the sizes of many objects at once.
std::vector<std::int64_t> ListSizes(const std::vector<LabelledImage>& files) {
  std::vector<std::int64_t> sizes(files.size());
  std::vector<std::size_t> objects;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].bytes >= 0) {
      sizes[i] = files[i].bytes;
    } else if (IsUrl(files[i].path)) {
      objects.push_back(i);
    } else {
      sizes[i] = SizeOfFile(files[i].path);
    }
  }
  if (!objects.empty()) {
    const std::shared_ptr<const CloudRuntime> runtime = SharedCloudRuntime();
    runtime->pool->ForEach(objects.size(), [&](std::size_t i) {
      sizes[objects[i]] = runtime->store.Stat(files[objects[i]].path).size;
    });
  }
  return sizes;
}

// The last shard that starts at the record or before; empty ones start where
// the next one does. starts: of each shard, and the end. Without branches,
// which no predictor learns in a shuffled order.
std::size_t ShardAt(std::int64_t record, std::span<const std::int64_t> starts) {
  const std::int64_t* start = starts.data();
  for (std::size_t shards = starts.size() - 1; shards > 1;) {
    const std::size_t half = shards / 2;
    start += half * static_cast<std::size_t>(start[half] <= record);
    shards -= half;
  }
  return static_cast<std::size_t>(start - starts.data());
}

}  // namespace

RecordIndex RecordIndex::OfImages(std::vector<LabelledImage> files,
                                  const ImageFolderInfo& info) {
  Check(!files.empty(), "there are images");
  RecordIndex index(std::vector<std::string>{});
  index.lengths_ = ListSizes(files);
  index.classes_ = info.classes;
  index.kept_root_ = info.kept_root;
  index.notes_ = info.notes;
  index.splits_ = info.splits;
  NoteOneClass(index.classes_, index.notes_);
  index.shards_.reserve(files.size());
  index.shards_of_.reserve(files.size());
  index.starts_.reserve(files.size() + 1);
  index.labels_.reserve(files.size());
  index.offsets_.assign(files.size(), 0);
  for (std::size_t i = 0; i < files.size(); ++i) {
    index.shards_.push_back(std::move(files[i].path));
    index.shards_of_.push_back(
        {RecordFormat::kImage, Compression::kNone, index.lengths_[i]});
    index.starts_.push_back(static_cast<std::int64_t>(index.shards_.size()));
    index.labels_.push_back(files[i].label);
    index.max_length_ =
        std::max(index.max_length_, ImageRecordBytes(index.lengths_[i]));
  }
  return index;
}

bool RecordIndex::any_compressed() const {
  return std::ranges::any_of(shards_of_, [](const Shard& shard) {
    return shard.compression != Compression::kNone;
  });
}

bool RecordIndex::any_examples() const {
  return shards_of_.empty() ||
         std::ranges::any_of(shards_of_, [](const Shard& shard) {
           return shard.format == RecordFormat::kTfrecord;
         });
}

RecordLocation RecordIndex::at(std::int64_t record) const {
  Check(record >= 0 && record < size(), "the record is in the index");
  const std::size_t shard = ShardAt(record, starts_);
  const auto place = static_cast<std::size_t>(record);
  return {.shard = static_cast<std::int32_t>(shard),
          .number = record - starts_[shard],
          .offset = offsets_[place],
          .length = lengths_[place],
          .overhead = shards_of_[shard].format == RecordFormat::kTfrecord
                          ? kFrameOverhead
                          : 0};
}

std::string RecordIndex::identity() const {
  std::uint32_t names = 0;
  for (const std::string& shard : shards_) {
    const std::string name = FileNameOf(shard);  // and the zero behind it
    names = ExtendCrc32c(
        names, std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  }
  std::array<char, 25> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x%08x%08x", names,
                Crc32cOf(offsets_), Crc32cOf(lengths_));
  return hex.data();
}

std::string RecordIndex::shard_identity(std::size_t shard) const {
  const auto first = static_cast<std::size_t>(starts_[shard]);
  const auto size = static_cast<std::size_t>(shard_size(shard));
  const auto of_shard = [&](const std::vector<std::int64_t>& numbers) {
    return std::span(numbers).subspan(first, size);
  };
  const std::string name = FileNameOf(shards_[shard]);
  std::uint32_t crc = Crc32c(std::as_bytes(std::span(name)));
  crc = ExtendCrc32cBy(crc, of_shard(offsets_));
  crc = ExtendCrc32cBy(crc, of_shard(lengths_));
  std::array<char, 9> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", crc);
  return hex.data();
}

std::string RecordIndex::identity_with_labels() const {
  if (labels_.empty()) {
    return identity();
  }
  std::array<char, 9> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", Crc32cOf(labels_));
  return identity() + hex.data();
}

}  // namespace infeed
