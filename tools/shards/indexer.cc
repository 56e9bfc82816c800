#include "tools/shards/indexer.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/store/dali_index.h"
#include "records/store/seek_file.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/frame_scan.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxDaliBytes = std::int64_t{1} << 32;

// Read-ahead for a shard in an object store.
constexpr std::int64_t kAheadBytes = std::int64_t{8} << 20;

std::string ReadText(const std::string& path) {
  const std::unique_ptr<ByteSource> source = OpenSource(path);
  if (source->size() > kMaxDaliBytes) {
    throw DataError({.path = path}, "is too large for an index");
  }
  std::string text(static_cast<std::size_t>(source->size()), '\0');
  text.resize(source->ReadAt(0, std::as_writable_bytes(std::span(text))));
  return text;
}

FrameOffsets TakeDaliIndex(const ByteSource& shard) {
  const std::string path = DaliIndexPath(shard.path(), kBeside);
  return ParseDaliIndex(ReadText(path), path, shard);
}

// Requires: the shard has an index.
void WriteDaliIndex(const ByteSource& shard, const FrameOffsets& offsets,
                    const IndexOptions& options, const std::string& path) {
  const std::string text = DaliIndexText(offsets, shard.size());
  if (!ExistingOutputs({path}, true).empty() && !options.force) {
    if (ReadText(path) != text) {
      throw UsageError(path +
                       ": is there already and says something else: --force "
                       "replaces it");
    }
    return;
  }
  if (!options.dry_run) {
    const std::unique_ptr<ByteSink> file = OpenSink(path);
    file->Write(text);
    file->Commit();
  }
}

FrameOffsets OffsetsOf(const ByteSource& shard, const IndexOptions& options,
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
  result.records = static_cast<std::int64_t>(frames->offsets.size());
}

bool HasSeekFile(const ByteSource& shard, const FrameOffsets& offsets,
                 SeekEntries entries) {
  const auto file = SeekFile::Find(shard.path(), shard.size(),
                                   static_cast<std::int64_t>(offsets.size()));
  return file && file->info().shard_version == shard.version() &&
         file->info().run == SeekRun(entries);
}

// Reads the record between two offsets; nullopt when it is damaged.
std::optional<ImagenetExampleView> ReadExample(const ByteSource& shard,
                                               std::int64_t begin,
                                               std::int64_t end,
                                               std::vector<std::byte>& buffer) {
  const auto bytes = static_cast<std::size_t>(end - begin);
  buffer.resize(std::max(buffer.size(), bytes));
  const auto frame = std::span(buffer).first(bytes);
  if (shard.ReadAt(begin, frame) != bytes || !HasFrameHeader(frame)) {
    return std::nullopt;
  }
  const auto body = frame.subspan(kFrameHeaderBytes);
  if (ClaimedLength(frame) != body.size() - kFrameFooterBytes ||
      !IsPayloadGood(body)) {
    return std::nullopt;
  }
  try {
    return ParseImagenetExample(body.first(body.size() - kFrameFooterBytes));
  } catch (const DataError&) {  // `records verify` reports the error.
    return std::nullopt;
  }
}

// Makes the seek file unless a valid one exists. A damaged record, or one
// without a JPEG that can have an index, gets an empty entry.
MadeSeekFile MakeSeekFile(const ByteSource& shard, const FrameOffsets& offsets,
                          const IndexOptions& options) {
  MadeSeekFile made;
  made.was_there = !options.force && HasSeekFile(shard, offsets, options.seek);
  if (made.was_there || options.dry_run) {
    return made;
  }
  SeekFileWriter writer(shard, SeekRun(options.seek));
  std::vector<std::byte> buffer;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    options.on_record();
    const std::int64_t end =
        i + 1 < offsets.size() ? offsets[i + 1] : shard.size();
    shard.WillRead(offsets[i],
                   std::min(kAheadBytes, shard.size() - offsets[i]));
    const auto example = ReadExample(shard, offsets[i], end, buffer);
    const bool has_own = example && !example->seek_index.empty();
    const std::string sealed =
        example && !has_own
            ? MakeSealedSeekIndex(example->encoded, options.seek)
            : "";
    made.own += has_own ? 1 : 0;
    made.indexed += sealed.empty() ? 0 : 1;
    writer.Append(sealed);
  }
  writer.Close();
  made.path = writer.path();
  return made;
}

std::string SeekText(const MadeSeekFile& seek, bool dry_run) {
  if (seek.was_there) {
    return ", the seek indexes are up to date";
  }
  if (dry_run) {
    return ", would write seek indexes";
  }
  return fmt::format(", wrote {} seek indexes to {}", seek.indexed, seek.path) +
         (seek.own > 0 ? fmt::format(" ({} records have their own)", seek.own)
                       : "");
}

Json ToJson(const MadeSeekFile& seek) {
  return {{"up_to_date", seek.was_there},
          {"file", seek.path.empty() ? Json() : Json(seek.path)},
          {"indexed", seek.indexed},
          {"own", seek.own}};
}

std::string LineOf(const IndexedShard& shard, bool dry_run) {
  const std::string packed =
      shard.compression == Compression::kNone
          ? ""
          : fmt::format(" of a {} stream", CompressionName(shard.compression));
  std::string line =
      fmt::format("{}: {} records{}, {}", PathForMessages(shard.path),
                  shard.records, packed,
                  shard.was_there ? "the index is up to date"
                  : dry_run       ? "would write an index"
                                  : "wrote " + shard.index);
  if (!shard.dali.empty()) {
    line += (dry_run ? ", DALI's would be " : ", DALI's is ") + shard.dali;
  }
  if (shard.seek) {
    line += SeekText(*shard.seek, dry_run);
  }
  return line + "\n";
}

}  // namespace

std::string DaliIndexPath(const std::string& shard, const std::string& dali) {
  return dali == kBeside ? shard + ".idx"
                         : JoinPath(dali, FileNameOf(shard) + ".idx");
}

IndexedShard IndexShard(const std::string& path, const IndexOptions& options) {
  const std::unique_ptr<ByteSource> shard = OpenSource(path);
  IndexedShard result;
  result.path = path;
  result.compression = ReadCompression(*shard);
  if (result.compression != Compression::kNone) {
    IndexPacked(*shard, options, result);
    return result;
  }
  const FrameOffsets offsets = OffsetsOf(*shard, options, result);
  result.records = static_cast<std::int64_t>(offsets.size());
  if (!options.dali.empty()) {
    result.dali = DaliIndexPath(path, options.dali);
    WriteDaliIndex(*shard, offsets, options, result.dali);
  }
  if (options.seek != SeekEntries::kNone) {
    result.seek = MakeSeekFile(*shard, offsets, options);
  }
  return result;
}

std::string IndexReportText(const std::vector<IndexedShard>& shards,
                            bool dry_run) {
  std::string text;
  std::int64_t records = 0;
  std::size_t packed = 0;
  for (const IndexedShard& shard : shards) {
    text += LineOf(shard, dry_run);
    records += shard.records;
    packed += shard.compression != Compression::kNone ? 1 : 0;
  }
  if (packed > 0) {
    text += fmt::format(
        "{} shards are packed, and can be read in order alone: `records "
        "reshard` makes others\n",
        packed);
  }
  return text +
         fmt::format("{} records in {} shards\n", records, shards.size());
}

std::string IndexReportJson(const std::vector<IndexedShard>& shards) {
  Json list = Json::array();
  std::int64_t records = 0;
  for (const IndexedShard& shard : shards) {
    Json json = {{"file", PathForMessages(shard.path)},
                 {"compression", CompressionName(shard.compression)},
                 {"records", shard.records},
                 {"up_to_date", shard.was_there},
                 {"index", shard.index.empty() ? Json() : Json(shard.index)}};
    if (shard.compression == Compression::kNone) {
      json["dali"] = shard.dali.empty() ? Json() : Json(shard.dali);
      if (shard.seek) {
        json["seek"] = ToJson(*shard.seek);
      }
    }
    list.push_back(std::move(json));
    records += shard.records;
  }
  const Json json = {{"records", records}, {"shards", std::move(list)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
