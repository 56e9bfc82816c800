#include "tools/inspect/indexing.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/byte_sink.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "records/store/dali_index.h"
#include "records/store/index_data.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/cli/parallel_for.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

// Read-ahead for a shard in an object store.
constexpr std::int64_t kAheadRecords = 64;

void WillReadFrom(const RecordStore& store, std::int64_t first,
                  std::int64_t records) {
  std::vector<std::int64_t> next(
      static_cast<std::size_t>(std::min(kAheadRecords, records - first)));
  std::iota(next.begin(), next.end(), first);
  store.WillRead(next);
}

bool HasSeekFile(const ByteSource& shard, const RecordIndex& index,
                 const IndexOptions& options) {
  const auto file = SeekFile::Find(shard.path(), shard.size(), index.size(),
                                   options.image_key);
  return file && file->info().shard_version == shard.version() &&
         file->info().run == SeekRun(options.seek);
}

void AppendEntries(const RecordIndex& index, const IndexOptions& options,
                   SeekFileWriter& writer, MadeSeekFile& made) {
  const RecordStore store(index, {.image_key = options.image_key});
  std::vector<std::byte> buffer;
  for (std::int64_t record = 0; record < index.size(); ++record) {
    options.on_record();
    if (record % kAheadRecords == 0) {
      WillReadFrom(store, record, index.size());
    }
    std::string sealed;
    try {
      const ImagenetExampleView example =
          ParseImagenetExample(store.Read(record, buffer), LabelList::kAny,
                               {.image = options.image_key});
      made.own += example.seek_index.empty() ? 0 : 1;
      sealed = example.seek_index.empty()
                   ? MakeSealedSeekIndex(example.encoded, options.seek)
                   : "";
    } catch (const DataError&) {  // `records verify` reports the error.
    }
    made.indexed += sealed.empty() ? 0 : 1;
    writer.Append(sealed);
  }
  writer.Close();
  made.path = writer.path();
}

// Makes a shard's seek file unless a valid one exists. A damaged record, or one
// without a JPEG that can have an index, gets an empty entry.
MadeSeekFile MakeSeekFile(const ByteSource& shard,
                          const IndexOptions& options) {
  MadeSeekFile made;
  if (options.dry_run) {
    return made;
  }
  const RecordIndex index({shard.path()});
  made.was_there = !options.force && HasSeekFile(shard, index, options);
  if (!made.was_there) {
    SeekFileWriter writer(shard, SeekRun(options.seek), options.image_key);
    AppendEntries(index, options, writer, made);
  }
  return made;
}

// Makes the one seek file of an image folder.
MadeSeekFile MakeSeekFileOfImages(const RecordIndex& images,
                                  const IndexOptions& options) {
  MadeSeekFile made;
  const auto kept = SeekFile::Find(images, 0);
  made.was_there = !options.force && kept != nullptr &&
                   kept->info().run == SeekRun(options.seek);
  if (!made.was_there && !options.dry_run) {
    SeekFileWriter writer(images, SeekRun(options.seek));
    AppendEntries(images, options, writer, made);
  }
  return made;
}

constexpr std::int64_t kMaxDaliBytes = std::int64_t{1} << 32;

std::string DaliIndexPath(const std::string& shard, const std::string& dali) {
  return dali == kBesideShards ? shard + ".idx"
                               : JoinPath(dali, FileNameOf(shard) + ".idx");
}

FrameOffsets TakeDaliIndex(const ByteSource& shard) {
  const std::string path = DaliIndexPath(shard.path(), kBesideShards);
  return ParseDaliIndex(ReadWhole(path, kMaxDaliBytes), path, shard);
}

// Requires: the shard has an index.
void WriteDaliIndex(const ByteSource& shard, const FrameOffsets& offsets,
                    const IndexOptions& options, const std::string& path) {
  const std::string text = DaliIndexText(offsets, shard.size());
  if (!ExistingOutputs({path}, true).empty() && !options.force) {
    if (ReadWhole(path, kMaxDaliBytes) != text) {
      throw UsageError(path +
                       ": exists with other content: --force replaces it");
    }
    return;
  }
  if (!options.dry_run) {
    const std::unique_ptr<ByteSink> file = OpenSink(path);
    file->Write(text);
    file->Commit();
  }
}

FrameOffsets FindOffsets(const ByteSource& shard, const IndexOptions& options,
                         IndexedShard& result) {
  if (!options.force && !options.from_dali) {
    if (std::optional<FrameOffsets> found = FindIndex(shard)) {
      result.was_there = true;
      return *std::move(found);
    }
  }
  FrameOffsets offsets =
      options.from_dali
          ? TakeDaliIndex(shard)
          : ScanFrames(shard, TfrecordReaderOptions().max_record_bytes);
  if (!options.dry_run) {
    result.index = SaveIndex(shard, offsets);
  }
  return offsets;
}

// For a compressed shard, which gets no DALI index and no seek indexes.
void IndexPacked(const ByteSource& shard, const IndexOptions& options,
                 IndexedShard& result) {
  std::optional<ShardFrames> frames;
  if (!options.force) {
    frames = FindFrames(shard);
  }
  result.was_there = frames.has_value();
  if (!frames) {
    frames = ScanShard(shard, TfrecordReaderOptions().max_record_bytes);
    if (!options.dry_run) {
      result.index = SaveFrames(shard, *frames);
    }
  }
  result.records = std::ssize(frames->offsets);
}

// A compressed tar gets no seek indexes.
void IndexArchive(const ByteSource& shard, const IndexOptions& options,
                  IndexedShard& result) {
  if (!options.dali.empty() || options.from_dali) {
    throw UsageError(shard.path() + ": is a " +
                     std::string(RecordFormatName(result.format)) +
                     ", for which DALI has no index");
  }
  result.was_there =
      !options.force && FindIndexState(shard) == IndexState::kFresh;
  const FileRecords records = FindRecords(shard, {.use_cache = !options.dry_run,
                                                  .use_kept = !options.force,
                                                  .must_keep = true});
  result.index = records.index_file;
  result.compression = records.compression;
  result.records = std::ssize(records.offsets);
  if (options.seek != SeekEntries::kNone &&
      result.compression == Compression::kNone) {
    result.seek = MakeSeekFile(shard, options);
  }
}

// The files of a folder need no index; each split gets a seek file.
void IndexImages(const IndexOptions& options, IndexedShard& result) {
  result.format = RecordFormat::kImage;
  result.was_there = true;
  for (const std::string_view split : kSplits) {
    const std::optional<RecordIndex> images = IndexSplit(result.path, split);
    if (!images) {
      continue;
    }
    result.records += images->size();
    if (options.seek != SeekEntries::kNone) {
      const MadeSeekFile made = MakeSeekFileOfImages(*images, options);
      result.seek = result.seek.value_or(MadeSeekFile{true});
      result.seek->was_there = result.seek->was_there && made.was_there;
      result.seek->path = made.path.empty() ? result.seek->path : made.path;
      result.seek->indexed += made.indexed;
    }
  }
}

IndexedShard IndexShard(const std::string& path, const IndexOptions& options) {
  IndexedShard result;
  result.path = path;
  if (IsDataFolder(path)) {
    IndexImages(options, result);
    return result;
  }
  const std::unique_ptr<ByteSource> shard = OpenSource(path);
  result.format = DetectFormat(*shard);
  if (result.format != RecordFormat::kTfrecord) {
    IndexArchive(*shard, options, result);
    return result;
  }
  result.compression = ReadCompression(*shard);
  if (result.compression != Compression::kNone) {
    IndexPacked(*shard, options, result);
    return result;
  }
  const FrameOffsets offsets = FindOffsets(*shard, options, result);
  result.records = std::ssize(offsets);
  if (!options.dali.empty()) {
    result.dali = DaliIndexPath(path, options.dali);
    WriteDaliIndex(*shard, offsets, options, result.dali);
  }
  if (options.seek != SeekEntries::kNone) {
    result.seek = MakeSeekFile(*shard, options);
  }
  return result;
}

// With one folder for all DALI indexes, shards of different folders must have
// different names.
void CheckDaliFolder(const std::vector<std::string>& shards,
                     const IndexOptions& options) {
  if (options.dali.empty() || options.dali == kBesideShards) {
    return;
  }
  std::set<std::string> paths;
  for (const std::string& shard : shards) {
    if (!paths.insert(DaliIndexPath(shard, options.dali)).second) {
      throw UsageError(shard +
                       ": another shard has the same name, and their indexes "
                       "would collide: index them into separate folders");
    }
  }
  if (!options.dry_run && !IsUrl(options.dali)) {
    MakeFolder(options.dali);
  }
}

std::string SeekText(const MadeSeekFile& seek, bool dry_run) {
  if (seek.was_there) {
    return ", the seek indexes are up to date";
  }
  if (dry_run) {
    return ", would write seek indexes";
  }
  return fmt::format(", wrote {} to {}",
                     CountText(seek.indexed, "seek index", "seek indexes"),
                     seek.path) +
         (seek.own > 0
              ? fmt::format(" ({} own)", CountText(seek.own, "record has its",
                                                   "records have their"))
              : "");
}

std::string IndexText(const IndexedShard& shard, bool dry_run) {
  if (shard.format == RecordFormat::kImage) {
    return "image files need no index";
  }
  return shard.was_there ? "the index is up to date"
         : dry_run       ? "would write an index"
                         : "wrote " + shard.index;
}

nlohmann::ordered_json OrNull(const std::string& path) {
  return path.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(path);
}

// A compressed shard has neither DALI's index nor seek indexes.
ReportTable LineOf(const IndexedShard& shard, bool dry_run) {
  const std::string file = PathForMessages(shard.path);
  const bool is_packed = shard.compression != Compression::kNone;
  const std::string_view compression = CompressionName(shard.compression);
  ReportTable line = {
      {"file", file, ShownText(file) + ": "},
      {"format", RecordFormatName(shard.format)},
      {"records", shard.records, CountText(shard.records, "record")},
      {"compression", compression,
       is_packed ? fmt::format(" of a {} stream", compression) : ""},
      {"up_to_date", shard.was_there},
      {"index", OrNull(shard.index),
       ", " + ShownText(IndexText(shard, dry_run))}};
  if (!is_packed) {
    line.push_back({"dali", OrNull(shard.dali),
                    shard.dali.empty()
                        ? ""
                        : (dry_run ? ", DALI's would be " : ", DALI's is ") +
                              ShownText(shard.dali)});
  }
  if (shard.seek) {
    line.push_back({"seek",
                    {{"up_to_date", shard.seek->was_there},
                     {"file", OrNull(shard.seek->path)},
                     {"indexed", shard.seek->indexed},
                     {"own", shard.seek->own}},
                    ShownText(SeekText(*shard.seek, dry_run))});
  }
  line.push_back({"", {}, "\n"});
  return line;
}

}  // namespace

std::vector<IndexedShard> IndexShards(const std::vector<std::string>& shards,
                                      const IndexOptions& options) {
  CheckDaliFolder(shards, options);
  std::vector<IndexedShard> indexed(shards.size());
  ParallelFor(shards.size(), options.threads, [&](std::size_t i) {
    options.on_record();
    indexed[i] = IndexShard(shards[i], options);
  });
  return indexed;
}

ReportTable IndexReport(const std::vector<IndexedShard>& shards, bool dry_run) {
  std::vector<ReportTable> lines;
  std::int64_t records = 0;
  std::int64_t packed = 0;
  for (const IndexedShard& shard : shards) {
    lines.push_back(LineOf(shard, dry_run));
    records += shard.records;
    packed += shard.compression != Compression::kNone ? 1 : 0;
  }
  const std::string note =
      CountText(packed, "shard is", "shards are") +
      " compressed and can only be read in order: `records reshard` makes "
      "uncompressed ones\n";
  return {ListRow("shards", lines),
          {"records", records,
           fmt::format("{}{} in {}\n", packed > 0 ? note : "",
                       CountText(records, "record"),
                       CountText(shards.size(), "shard"))}};
}

}  // namespace infeed
