#include "tools/rewrite/set_repair.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_size.h"
#include "records/files/dataset_info.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "tools/cli/parallel_for.h"
#include "tools/shards/progress.h"
#include "tools/shards/set_info.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
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
  std::vector<NamedOutput> outputs = {{"--json", options.writing.json}};
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
  const std::optional<DatasetInfo> common = CommonInfo(shards);
  for (std::string& file : OldSideFiles(output, names)) {
    stale.push_back(std::move(file));
  }
  StagedFolder folder(output);
  Repair(shards, options, folder, interruption, set);
  if (options.writing.json.empty()) {
    WriteReport(folder.SidePathFor("repair.json"), set);
  }
  if (common) {
    std::vector<DatasetInfo::Shard> written;
    for (const ShardRepairReport& shard : set.shards) {
      written.push_back(shard.shard);
    }
    DescribeShards(folder, *common, written, stale);
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
