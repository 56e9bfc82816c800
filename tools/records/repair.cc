#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/count_text.h"
#include "base/shown_text.h"
#include "records/bytes/byte_sink.h"
#include "records/bytes/byte_size.h"
#include "records/files/open_sink.h"
#include "records/files/open_source.h"
#include "records/files/output_check.h"
#include "tools/cli/interruption.h"
#include "tools/cli/parallel_for.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/shard_repair.h"
#include "tools/rewrite/writing_options.h"
#include "tools/shards/progress.h"
#include "tools/shards/set_info.h"
#include "tools/shards/staged_folder.h"

namespace infeed {
namespace {

struct RepairFlags {
  WritingOptions writing;
  RepairOptions repair;
  std::string json;  // target, see AddJsonOption()
};

// The results of `records repair`.
struct RepairReport {
  std::string output;                     // folder
  std::vector<std::string> inputs;        // the shards that were read
  std::vector<ShardRepairReport> shards;  // one for each input
};

struct RepairTotals {
  std::int64_t records = 0;
  std::int64_t bad = 0;
  std::int64_t bad_bytes = 0;
  std::int64_t lost_records = 0;
};

RepairTotals SumUp(const RepairReport& report) {
  RepairTotals totals;
  for (const ShardRepairReport& shard : report.shards) {
    totals.records += shard.shard.records;
    totals.bad += static_cast<std::int64_t>(shard.bad.size());
    totals.bad_bytes += shard.bad_bytes();
    totals.lost_records += shard.lost_records();
  }
  return totals;
}

std::string LostPlaceText(const BadPlace& place) {
  if (!place.lost) {
    return "";
  }
  const RecordRange& lost = *place.lost;
  return lost.count == 1 ? fmt::format(" (record {})", lost.first)
                         : fmt::format(" (records {} to {})", lost.first,
                                       lost.first + lost.count - 1);
}

// A line for each bad place, then the totals.
ReportTable MakeReport(const RepairReport& report) {
  std::vector<ReportTable> shards;
  for (std::size_t i = 0; i < report.shards.size(); ++i) {
    const ShardRepairReport& shard = report.shards[i];
    const std::string file = PathForMessages(report.inputs[i]);
    std::string places;
    for (const BadPlace& place : shard.bad) {
      places +=
          fmt::format("{}: {} bytes at byte {}{}: {}\n", file, place.bytes,
                      place.offset, LostPlaceText(place), place.reason);
    }
    shards.push_back({{"file", file},
                      {"name", shard.shard.name},
                      {"records", shard.shard.records},
                      {"bytes", shard.shard.bytes},
                      {"crc32c", shard.shard.crc32c},
                      {"bad_bytes", shard.bad_bytes()},
                      {"bad", shard.bad, places}});
  }
  const RepairTotals totals = SumUp(report);
  const std::string lost =
      fmt::format(" ({}, {} known to be lost) in {}/.infeed",
                  FileSizeText(totals.bad_bytes),
                  CountText(totals.lost_records, "record"), report.output);
  return {ListRow("shards", shards),
          {"output", report.output},
          {"records", totals.records,
           fmt::format("{} in {}, ", CountText(totals.records, "good record"),
                       CountText(shards.size(), "shard"))},
          {"bad", totals.bad,
           CountText(totals.bad, "bad place") + (totals.bad > 0 ? lost : "") +
               "\n"},
          {"bad_bytes", totals.bad_bytes},
          {"records_lost", totals.lost_records}};
}

// The name of a repaired shard: the shard's name, without ".gz" if the output
// is no longer gzip.
std::string OutputName(const std::string& input, Compression compression) {
  const std::filesystem::path path(FileNameOf(input));
  return compression != Compression::kGzip && path.extension() == ".gz"
             ? path.stem().string()
             : path.filename().string();
}

std::vector<std::string> OutputNames(const ShardPaths& shards,
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

std::vector<std::string> JoinPaths(const std::string& folder,
                                   const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const std::string& name : names) {
    paths.push_back(JoinPath(folder, name));
  }
  return paths;
}

// Side files that an earlier repair of the same shards left.
std::vector<std::string> OldSideFiles(const std::string& folder,
                                      const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    for (const char* suffix : {".bad", ".bad.json"}) {
      files.push_back(JoinPath(folder, ".infeed/" + name + suffix));
    }
  }
  return IsUrl(folder) ? std::vector<std::string>()
                       : ExistingOutputs(files, true);
}

RepairReport RepairShards(const ShardPaths& shards,
                          const std::vector<std::string>& names,
                          const RepairFlags& flags, const StagedFolder& folder,
                          const Interruption& interruption) {
  RepairReport report = {
      .output = flags.writing.output,
      .inputs = shards,
      .shards = std::vector<ShardRepairReport>(shards.size())};
  ShardProgress progress(shards);
  ParallelFor(shards.size(), flags.writing.threads, [&](std::size_t i) {
    const RepairPaths paths = {
        .good = folder.PathFor(names[i]),
        .bad = folder.SidePathFor(names[i] + ".bad"),
        .bad_list = folder.SidePathFor(names[i] + ".bad.json")};
    report.shards[i] = RepairShard(progress.Open(i), OpenSource(shards[i]),
                                   paths, flags.repair, [&] {
                                     interruption.Check();
                                     progress.AddRecords(1);
                                   });
    report.shards[i].shard.name = names[i];
  });
  return report;
}

// Writes the report to .infeed/repair.json in the output folder, unless --json
// names another place.
void Put(const RepairReport& report, const RepairFlags& flags,
         const StagedFolder& folder) {
  if (flags.json.empty()) {
    const std::unique_ptr<ByteSink> file =
        OpenSink(folder.SidePathFor("repair.json"));
    file->Write(RenderJson(MakeReport(report)));
    file->Commit();
  }
}

ProgramEnd Repair(const ShardPaths& shards, const RepairFlags& flags) {
  const std::string& output = flags.writing.output;
  const std::vector<std::string> names =
      OutputNames(shards, flags.repair.compression);
  RefuseInputsIn({output}, "--output", shards);
  std::vector<NamedOutput> outputs = {{"--json", flags.json}};
  for (const std::string& path : JoinPaths(output, names)) {
    outputs.push_back({"--output", path, true});
  }
  CheckOutputs(outputs, shards);
  if (!flags.writing.dry_run) {
    StagedFolder::FinishKilled(output);
  }
  std::vector<std::string> stale =
      ExistingOutputs(JoinPaths(output, names), flags.writing.overwrite);
  if (flags.writing.dry_run) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      std::cout << ShownText(PathForMessages(shards[i])) << " -> "
                << ShownText(JoinPath(output, names[i])) << '\n';
    }
    return ExitCode::kDone;
  }
  const std::optional<DatasetInfo> common = CommonInfo(shards);
  for (std::string& file : OldSideFiles(output, names)) {
    stale.push_back(std::move(file));
  }
  return RunInterruptibly(
      "records", kNothingIsLeft, [&](const Interruption& interruption) {
        StagedFolder folder(output);
        const RepairReport report =
            RepairShards(shards, names, flags, folder, interruption);
        Put(report, flags, folder);
        if (common) {
          std::vector<DatasetInfo::Shard> written;
          for (const ShardRepairReport& shard : report.shards) {
            written.push_back(shard.shard);
          }
          DescribeShards(folder, *common, written, stale);
        }
        folder.Commit(stale);
        PutReport(flags.json, MakeReport(report));
        return ExitCode::kDone;
      });
}

}  // namespace

void AddRepairVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<RepairFlags>();
  CLI::App* repair = AddVerb(
      app, command,
      {.name = "repair",
       .about = "Recovers the good records of damaged shards",
       .more =
           "Writes the good records of each shard, in order, to a shard of\n"
           "the same name in the --output folder; the input is not changed.\n"
           "After damage it continues at the next frame whose two checksums\n"
           "are valid. All other bytes are copied to DIR/.infeed/NAME.bad;\n"
           "NAME.bad.json there lists their offsets, what is wrong and, if an\n"
           "index from before the damage exists, the lost records. A gzip or\n"
           "zlib shard is decompressed. Bad records do not change the exit\n"
           "code: see the report.\n"
           "\n"
           "Examples:\n"
           "  records repair SHARDS --output GOOD\n"
           "  records repair --decode 'SHARDS/train-*' --output GOOD\n"
           "  records repair --frames_only events.out.* --output GOOD\n",
       .faults = SetFaults::kNoted,
       .takes_tfrecords_only = true},
      [flags](const ShardPaths& shards) {
        flags->repair.compression = flags->writing.compression;
        return Repair(shards, *flags);
      });
  AddWritingOptions(repair, flags->writing, "Folder for the good records.");
  AddThreadsOption(repair, flags->writing.threads);
  CLI::Option* decode = repair->add_flag(
      "--decode", flags->repair.decode,
      "Treat records whose image does not decode as bad, too.");
  repair
      ->add_flag("!--frames_only", flags->repair.parse_examples,
                 "Check checksums only: the records need not be Examples.")
      ->excludes(decode);
  repair->add_flag("--json{-}", flags->json,
                   "Print the report as JSON; --json=FILE: write it there. "
                   "[DIR/.infeed/repair.json]");
}

}  // namespace infeed
