#include "tools/shards/indexer.h"

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
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/store/dali_index.h"
#include "records/tfrecord/frame_scan.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxDaliBytes = std::int64_t{1} << 32;

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
  result.compression = CompressionOf(*shard);
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
    result.seek = MakeSeekFile(*shard, offsets,
                               {.entries = options.seek,
                                .force = options.force,
                                .dry_run = options.dry_run,
                                .on_record = options.on_record});
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
