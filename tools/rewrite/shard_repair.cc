#include "tools/rewrite/shard_repair.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/plain_text.h"
#include "records/files/dataset_info.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "records/tfrecord/byte_stream.h"
#include "records/tfrecord/format.h"
#include "records/tfrecord/reader.h"
#include "records/tfrecord/writer.h"
#include "tools/cli/parallel_for.h"
#include "tools/inspect/payload_check.h"
#include "tools/shards/progress.h"
#include "tools/shards/set_info.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kChunkBytes = std::int64_t{1} << 18;
constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();

// The list of bad places, a file beside the one with their bytes.
std::string BadPlacesJson(const std::string& path,
                          const std::vector<BadPlace>& bad) {
  const Json list = {{"file", path}, {"bad", bad}};
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The next readable bytes; none if the stream is damaged.
std::span<const std::byte> ReadSome(ByteStream& stream,
                                    std::span<std::byte> destination) {
  try {
    return destination.first(stream.Read(destination));
  } catch (const DataError&) {
    return {};
  }
}

// The bytes of a shard at the reader's offsets, decompressed if the shard is
// compressed, without parsing: to copy bytes that are not a good record.
//
// Owns the source. One thread at a time. Throws IoError.
class RawBytes {
 public:
  explicit RawBytes(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), stream_(OpenStream(*source_)) {}

  // Copies bytes from offset on and returns how many: fewer than requested if
  // the shard ends or cannot be decompressed further. Requires: offset is not
  // before the end of the last copy.
  std::int64_t Copy(std::int64_t offset, std::int64_t bytes, ByteSink& sink) {
    std::vector<std::byte> buffer(kChunkBytes);
    const bool packed = stream_->compression() != Compression::kNone;
    std::int64_t copied = 0;
    while (copied < bytes) {
      const bool skips = packed && offset_ < offset;
      const std::int64_t wanted =
          std::min(skips ? offset - offset_ : bytes - copied, kChunkBytes);
      const auto room =
          std::span(buffer).first(static_cast<std::size_t>(wanted));
      const std::span<const std::byte> got =
          packed ? ReadSome(*stream_, room)
                 : room.first(source_->ReadAt(offset + copied, room));
      if (got.empty()) {
        break;
      }
      offset_ += std::ssize(got);
      if (!skips) {
        sink.Write(got);
        copied += std::ssize(got);
      }
    }
    return copied;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ByteStream> stream_;
  std::int64_t offset_ = 0;  // of the stream
};

// One pass over a shard. One thread at a time.
class ShardRepair {
 public:
  ShardRepair(std::unique_ptr<ByteSource> reading,
              std::unique_ptr<ByteSource> copying, const RepairPaths& paths,
              const RepairOptions& options)
      : path_(reading->path()),
        paths_(paths),
        options_(options),
        check_(options.decode),
        known_(FindIndexHint(*reading)),
        reader_(std::move(reading), {.resynchronise = true}),
        raw_(std::move(copying)),
        writer_(paths.good,
                {.compression = paths.compression, .write_index = true}) {}

  ShardRepairReport Run(const std::function<void()>& on_record) {
    while (Step()) {
      on_record();
    }
    PutAsideTheRest();
    writer_.Close();
    if (bad_) {
      bad_->Commit();
      const std::unique_ptr<ByteSink> list = OpenSink(paths_.bad_list);
      list->Write(BadPlacesJson(path_, report_.bad));
      list->Commit();
    }
    report_.input = path_;
    report_.shard = DescribeShard(std::string(BaseName(paths_.good)), writer_);
    return std::move(report_);
  }

 private:
  // Processes a record or a gap; false at the end.
  bool Step() {
    try {
      const std::optional<Record> record = reader_.Next();
      if (record) {
        TakeRecord(*record);
      }
      return record.has_value();
    } catch (const DataError& error) {
      const Gap gap = reader_.gaps().back();
      TakeBad({.offset = gap.offset,
               .bytes = gap.bytes,
               .bad_file_offset = 0,
               .reason = error.reason(),
               .lost = Lost(gap.offset, gap.bytes)});
      return true;
    }
  }

  [[nodiscard]] std::optional<RecordRange> Lost(std::int64_t offset,
                                                std::int64_t bytes) const {
    return known_ ? LostRecords(*known_, offset, bytes) : std::nullopt;
  }

  void TakeRecord(const Record& record) {
    const auto bytes =
        static_cast<std::int64_t>(record.payload.size() + kFrameOverheadBytes);
    try {
      if (options_.parse_examples) {
        (void)check_.Check(record.payload);
      }
    } catch (const DataError& error) {
      TakeBad({.offset = record.offset,
               .bytes = bytes,
               .bad_file_offset = 0,
               .reason = error.reason(),
               .lost = RecordRange{record.number, 1}});
      return;
    }
    writer_.Append(record.payload);
    end_ = record.offset + bytes;
  }

  void TakeBad(BadPlace place) {
    if (!bad_) {
      bad_ = OpenSink(paths_.bad);
    }
    place.bad_file_offset = bad_->size();
    end_ = place.offset + raw_.Copy(place.offset, place.bytes, *bad_);
    place.bytes = end_ - place.offset;
    report_.bad.push_back(std::move(place));
  }

  // The reader may stop before the shard's end.
  void PutAsideTheRest() {
    if (!report_.bad.empty()) {
      BadPlace& last = report_.bad.back();
      if (last.offset + last.bytes == end_) {
        const std::int64_t more = raw_.Copy(end_, kToTheEnd, *bad_);
        last.bytes += more;
        last.lost = more > 0 ? Lost(last.offset, last.bytes) : last.lost;
      }
    }
  }

  const std::string path_;
  const RepairPaths& paths_;
  const RepairOptions& options_;
  PayloadCheck check_;
  const std::optional<FrameOffsets> known_;
  TfrecordReader reader_;
  RawBytes raw_;
  TfrecordWriter writer_;
  std::unique_ptr<ByteSink> bad_;  // null before the first bad place
  std::int64_t end_ = 0;           // end of the processed bytes
  ShardRepairReport report_;
};

}  // namespace

void to_json(Json& json, const BadPlace& place) {
  json = {{"offset", place.offset},
          {"bytes", place.bytes},
          {"bad_file_offset", place.bad_file_offset},
          {"reason", place.reason},
          {"first_record_lost", place.lost ? Json(place.lost->first) : Json()},
          {"records_lost", place.lost ? Json(place.lost->count) : Json()}};
}

std::int64_t ShardRepairReport::bad_bytes() const {
  std::int64_t bytes = 0;
  for (const BadPlace& place : bad) {
    bytes += place.bytes;
  }
  return bytes;
}

std::int64_t ShardRepairReport::lost_records() const {
  std::int64_t records = 0;
  for (const BadPlace& place : bad) {
    records += place.lost ? place.lost->count : 0;
  }
  return records;
}

ShardRepairReport RepairShard(std::unique_ptr<ByteSource> reading,
                              std::unique_ptr<ByteSource> copying,
                              const RepairPaths& paths,
                              const RepairOptions& options,
                              const std::function<void()>& on_record) {
  return ShardRepair(std::move(reading), std::move(copying), paths, options)
      .Run(on_record);
}

namespace {

std::string LostPlaceText(const BadPlace& place) {
  if (!place.lost) {
    return "";
  }
  const RecordRange& lost = *place.lost;
  return lost.count == 1 ? fmt::format(" (record {})", lost.first)
                         : fmt::format(" (records {} to {})", lost.first,
                                       lost.first + lost.count - 1);
}

// The name of a repaired shard: the shard's name, without ".gz" if the output
// is no longer gzip.
std::string OutputName(const std::string& input, Compression compression) {
  const std::filesystem::path path(FileNameOf(input));
  return compression != Compression::kGzip && path.extension() == ".gz"
             ? path.stem().string()
             : path.filename().string();
}

std::vector<std::string> OutputNames(const std::vector<std::string>& shards,
                                     Compression compression) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string& shard : shards) {
    names.push_back(OutputName(shard, compression));
    if (names.back().find_first_not_of('.') == std::string::npos) {
      throw UsageError(PathForMessages(shard) +
                       ": has no usable name for the repaired shard");
    }
    if (!seen.insert(names.back()).second) {
      throw UsageError(PathForMessages(shard) +
                       ": another shard has the name " + names.back() +
                       " too: repair them into separate folders");
    }
  }
  return names;
}

// Side files that an earlier repair of the same shards left, and its report.
std::vector<std::string> OldSideFiles(const std::string& folder,
                                      const std::vector<std::string>& names) {
  std::vector<std::string> files = {JoinPath(folder, ".infeed/repair.json")};
  for (const std::string& name : names) {
    for (const char* suffix : {".bad", ".bad.json"}) {
      files.push_back(JoinPath(folder, ".infeed/" + name + suffix));
    }
  }
  return IsUrl(folder) ? std::vector<std::string>()
                       : ExistingOutputs(files, true);
}

// Repairs the shards into the folder; set.shards have their names.
void Repair(const std::vector<std::string>& shards,
            const SetRepairOptions& options, const StagedFolder& folder,
            const Interruption& interruption, RepairedSet& set) {
  ShardProgress progress(shards);
  ParallelFor(shards.size(), options.writing.threads, [&](std::size_t i) {
    const std::string& name = set.shards[i].shard.name;
    const RepairPaths paths = {
        .good = folder.PathFor(name),
        .bad = folder.SidePathFor(name + ".bad"),
        .bad_list = folder.SidePathFor(name + ".bad.json"),
        .compression = options.writing.compression};
    set.shards[i] = RepairShard(progress.Open(i), OpenSource(shards[i]), paths,
                                options.repair, progress.Counter(interruption));
  });
}

void WriteReport(const std::string& path, const RepairedSet& set) {
  const std::unique_ptr<ByteSink> file = OpenSink(path);
  file->Write(RenderJson(RepairReport(set)));
  file->Commit();
}

// The input and the output of each shard.
ReportTable PlanReport(const RepairedSet& set) {
  std::vector<ReportTable> shards;
  for (const ShardRepairReport& shard : set.shards) {
    const std::string file = PathForMessages(shard.input);
    const std::string& name = shard.shard.name;
    shards.push_back(
        {{"file", file, ShownText(file) + " -> "},
         {"name", name, ShownText(JoinPath(set.output, name)) + "\n"}});
  }
  return {ListRow("shards", shards), {"output", set.output}};
}

ReportTable ShardReportOf(const ShardRepairReport& shard) {
  const std::string file = PathForMessages(shard.input);
  std::string places;
  for (const BadPlace& place : shard.bad) {
    places += fmt::format("{}: {} bytes at byte {}{}: {}\n", file, place.bytes,
                          place.offset, LostPlaceText(place), place.reason);
  }
  return {{"file", file},
          {"name", shard.shard.name},
          {"records", shard.shard.records},
          {"bytes", shard.shard.bytes},
          {"crc32c", shard.shard.crc32c},
          {"bad_bytes", shard.bad_bytes()},
          {"bad", shard.bad, places}};
}

}  // namespace

RepairedSet RepairShards(const std::vector<std::string>& shards,
                         const SetRepairOptions& options,
                         const Interruption& interruption) {
  const std::string& output = options.writing.output;
  RepairedSet set = {
      .output = output, .shards = {}, .is_plan = options.writing.dry_run};
  const std::vector<std::string> names =
      OutputNames(shards, options.writing.compression);
  RefuseInputsIn({output}, "--output", shards);
  std::vector<NamedOutput> outputs = {
      {.flag = "--json", .path = options.writing.json, .may_be_stdout = true}};
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    paths.push_back(JoinPath(output, names[i]));
    outputs.push_back({"--output", paths.back(), true});
    ShardRepairReport& shard = set.shards.emplace_back();
    shard.input = shards[i];
    shard.shard.name = names[i];
  }
  CheckOutputs(outputs, shards);
  if (!set.is_plan) {
    StagedFolder::FinishKilled(output);
  }
  std::vector<std::string> stale =
      ExistingOutputs(paths, options.writing.overwrite);
  if (set.is_plan) {
    return set;
  }
  const bool is_described = ReadDatasetInfo(output).has_value();
  const std::optional<DatasetInfo> common =
      CommonInfo(shards, OtherShardsIn(output, stale));
  for (std::string& file : OldSideFiles(output, names)) {
    stale.push_back(std::move(file));
  }
  StagedFolder folder(output);
  Repair(shards, options, folder, interruption, set);
  if (options.writing.json.empty()) {
    WriteReport(folder.SidePathFor("repair.json"), set);
  }
  if (common || is_described) {
    std::vector<DatasetInfo::Shard> written;
    for (const ShardRepairReport& shard : set.shards) {
      written.push_back(shard.shard);
    }
    DescribeShards(folder, common.value_or(DatasetInfo()), written, stale);
  }
  folder.Commit(stale);
  return set;
}

ReportTable RepairReport(const RepairedSet& set) {
  if (set.is_plan) {
    return PlanReport(set);
  }
  std::vector<ReportTable> shards;
  std::int64_t records = 0;
  std::int64_t bad = 0;
  std::int64_t bad_bytes = 0;
  std::int64_t lost_records = 0;
  for (const ShardRepairReport& shard : set.shards) {
    shards.push_back(ShardReportOf(shard));
    records += shard.shard.records;
    bad += std::ssize(shard.bad);
    bad_bytes += shard.bad_bytes();
    lost_records += shard.lost_records();
  }
  const std::string lost = fmt::format(
      " ({}, {} known to be lost) in {}/.infeed", FileSizeText(bad_bytes),
      CountText(lost_records, "record"), set.output);
  return {
      ListRow("shards", shards),
      {"output", set.output},
      {"records", records,
       fmt::format("{} in {}, ", CountText(records, "good record"),
                   CountText(shards.size(), "shard"))},
      {"bad", bad, CountText(bad, "bad place") + (bad > 0 ? lost : "") + "\n"},
      {"bad_bytes", bad_bytes},
      {"records_lost", lost_records}};
}

}  // namespace infeed
