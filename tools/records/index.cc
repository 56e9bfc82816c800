#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/files/split_names.h"
#include "records/store/dali_index.h"
#include "records/store/file_records.h"
#include "records/store/index_data.h"
#include "records/store/record_index.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/frame_scan.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/cli/interruption.h"
#include "tools/cli/parallel_for.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/shards/seek_file_maker.h"
#include "tools/shards/seek_index_maker.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

struct IndexOptions {
  bool force = false;      // replace existing files, even valid ones
  bool from_dali = false;  // read the records' offsets from NAME.idx
  // Where to write DALI's NAME.idx: "" (not at all), kBeside, or a folder.
  std::string dali;
  // The seek indexes to make for the records, in a file beside the shard.
  SeekEntries seek = SeekEntries::kNone;
  std::string image_key{kImageKey};  // of the JPEGs
  bool dry_run = false;
  std::function<void()> on_record = [] {};  // may throw, which ends the work
};

SeekFileOptions SeekOptions(const IndexOptions& options) {
  return {.entries = options.seek,
          .image_key = options.image_key,
          .force = options.force,
          .dry_run = options.dry_run,
          .on_record = options.on_record};
}

// IndexOptions::dali for "beside the shards".
constexpr const char* kBeside = "-";

// The result for one shard.
struct IndexedShard {
  std::string path;
  RecordFormat format = RecordFormat::kTfrecord;
  // Compressed shards get no DALI index and no seek indexes.
  Compression compression = Compression::kNone;
  std::int64_t records = 0;
  bool was_there = false;            // a valid index existed
  std::string index;                 // written; empty if it existed
  std::string dali;                  // written, or existing
  std::optional<MadeSeekFile> seek;  // if requested
};

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

// The path of DALI's index for a shard.
std::string DaliIndexPath(const std::string& shard, const std::string& dali) {
  return dali == kBeside ? shard + ".idx"
                         : JoinPath(dali, FileNameOf(shard) + ".idx");
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
  result.records = static_cast<std::int64_t>(frames->offsets.size());
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

Json ToJson(const MadeSeekFile& seek) {
  return {{"up_to_date", seek.was_there},
          {"file", seek.path.empty() ? Json() : Json(seek.path)},
          {"indexed", seek.indexed},
          {"own", seek.own}};
}

std::string IndexText(const IndexedShard& shard, bool dry_run) {
  if (shard.format == RecordFormat::kImage) {
    return "image files need no index";
  }
  return shard.was_there ? "the index is up to date"
         : dry_run       ? "would write an index"
                         : "wrote " + shard.index;
}

std::string MakeLine(const IndexedShard& shard, bool dry_run) {
  const std::string packed =
      shard.compression == Compression::kNone
          ? ""
          : fmt::format(" of a {} stream", CompressionName(shard.compression));
  std::string line = fmt::format("{}: {}{}, {}", PathForMessages(shard.path),
                                 CountText(shard.records, "record"), packed,
                                 IndexText(shard, dry_run));
  if (!shard.dali.empty()) {
    line += (dry_run ? ", DALI's would be " : ", DALI's is ") + shard.dali;
  }
  if (shard.seek) {
    line += SeekText(*shard.seek, dry_run);
  }
  return ShownText(line) + "\n";
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
  result.records = static_cast<std::int64_t>(records.offsets.size());
  if (options.seek != SeekEntries::kNone &&
      result.compression == Compression::kNone) {
    result.seek = MakeSeekFile(shard, SeekOptions(options));
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
      const MadeSeekFile made =
          MakeSeekFileOfImages(*images, SeekOptions(options));
      result.seek = result.seek.value_or(MadeSeekFile{true});
      result.seek->was_there = result.seek->was_there && made.was_there;
      result.seek->path = made.path.empty() ? result.seek->path : made.path;
      result.seek->indexed += made.indexed;
    }
  }
}

// Makes the index files of one shard. Throws IoError, DataError for an invalid
// shard or NAME.idx, and UsageError when a NAME.idx with other content would be
// replaced without `force`.
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
  result.records = static_cast<std::int64_t>(offsets.size());
  if (!options.dali.empty()) {
    result.dali = DaliIndexPath(path, options.dali);
    WriteDaliIndex(*shard, offsets, options, result.dali);
  }
  if (options.seek != SeekEntries::kNone) {
    result.seek = MakeSeekFile(*shard, SeekOptions(options));
  }
  return result;
}

// A line for each shard, then the totals.
std::string IndexReportText(const std::vector<IndexedShard>& shards,
                            bool dry_run) {
  std::string text;
  std::int64_t records = 0;
  std::size_t packed = 0;
  for (const IndexedShard& shard : shards) {
    text += MakeLine(shard, dry_run);
    records += shard.records;
    packed += shard.compression != Compression::kNone ? 1 : 0;
  }
  if (packed > 0) {
    text += fmt::format(
        "{} compressed and can only be read in order: `records reshard` makes "
        "uncompressed ones\n",
        CountText(packed, "shard is", "shards are"));
  }
  return text + fmt::format("{} in {}\n", CountText(records, "record"),
                            CountText(shards.size(), "shard"));
}

std::string IndexReportJson(const std::vector<IndexedShard>& shards) {
  Json list = Json::array();
  std::int64_t records = 0;
  for (const IndexedShard& shard : shards) {
    Json json = {{"file", PathForMessages(shard.path)},
                 {"format", RecordFormatName(shard.format)},
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

struct IndexFlags {
  IndexOptions index;
  std::string seek = "none";
  int threads = 0;
  std::string json;
};

// With one folder for all DALI indexes, shards of different folders must have
// different names.
void CheckDaliFolder(const ShardPaths& shards, const IndexOptions& options) {
  if (options.dali.empty() || options.dali == kBeside) {
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

ProgramEnd IndexShards(const ShardPaths& shards, const IndexFlags& flags) {
  CheckDaliFolder(shards, flags.index);
  return RunInterruptibly(
      "records", kNothingIsLeft, [&](const Interruption& interruption) {
        std::vector<IndexedShard> indexed(shards.size());
        IndexOptions options = flags.index;
        options.seek = SeekEntriesNames().at(flags.seek);
        options.on_record = [&] { interruption.Check(); };
        ParallelFor(shards.size(), flags.threads, [&](std::size_t i) {
          interruption.Check();
          indexed[i] = IndexShard(shards[i], options);
        });
        PutReport(
            flags.json,
            [&] { return IndexReportText(indexed, flags.index.dry_run); },
            [&] { return IndexReportJson(indexed); });
        return ExitCode::kDone;
      });
}

}  // namespace

void AddIndexVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<IndexFlags>();
  CLI::App* index = AddVerb(
      app, command,
      {.name = "index",
       .about = "Makes the index files of shards",
       .more =
           "Random access, a global shuffle and an exact resume need them.\n"
           "They are in .infeed/ beside the shards, or in the user's cache if\n"
           "that folder cannot be written. Programs that read shards make\n"
           "missing ones, too; this makes them beforehand. Valid files are\n"
           "kept. Compressed shards get no DALI index and no seek indexes.\n"
           "A tar of samples is a shard like others; for a folder of class\n"
           "folders, --seek makes one file beside it.\n"
           "\n"
           "Examples:\n"
           "  records index SHARDS\n"
           "  records index --dali SHARDS          NAME.idx beside each shard\n"
           "  records index --dali=DIR SHARDS      DIR/NAME.idx\n"
           "  records index --from_dali SHARDS     checks NAME.idx, makes "
           "ours\n"
           "  records index --seek SHARDS          seek indexes of JPEGs "
           "whose\n"
           "      records have none: windows of them decode faster\n",
       .faults = SetFaults::kNoted,
       .takes_image_folders = true},
      [flags](const ShardPaths& shards) {
        return IndexShards(shards, *flags);
      });
  CLI::Option* dali = index->add_flag(
      "--dali{-}", flags->index.dali,
      "Write DALI's NAME.idx as well, beside the shards; --dali=DIR: there.");
  index
      ->add_flag("--from_dali", flags->index.from_dali,
                 "Take the places of records from NAME.idx beside the shards, "
                 "checked against the shards.")
      ->excludes(dali);
  index
      ->add_flag("--seek{rows}", flags->seek,
                 "Make seek indexes for JPEGs, in a file beside each shard: of "
                 "rows, or with every 8th or 4th MCU as well; records that "
                 "hold one keep it.")
      ->check(CLI::IsMember({"rows", "8", "4"}))
      ->option_text("[=rows|8|4]");
  index
      ->add_option("--image_key", flags->index.image_key,
                   "Key of the JPEGs that get seek indexes.")
      ->capture_default_str()
      ->type_name("KEY");
  index->add_flag("--force", flags->index.force,
                  "Make the files again, even if valid ones exist.");
  index->add_flag("--dry_run", flags->index.dry_run,
                  "Only print what would be written.");
  AddThreadsOption(index, flags->threads);
  AddJsonOption(index, flags->json);
}

}  // namespace infeed
