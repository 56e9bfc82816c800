#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/json_text.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/cli/parallel_for.h"
#include "tools/inspect/payload_check.h"
#include "tools/inspect/seek_check.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/shards/check.h"
#include "tools/shards/progress.h"
#include "tools/shards/record_pass.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
  bool parse_examples = true;
  bool decode = false;       // decode every image completely
  bool dataset_json = true;  // compare with it if present
  RecordKeys keys = {};
  std::string json;  // target, see AddJsonOption()
  int threads = 0;   // 0: one per core
};

// Skipped bytes, and the records that they contained according to the index
// from before the damage.
struct LostBytes {
  Gap gap;
  std::optional<RecordRange> records;
};

struct VerifiedShard {
  std::string path;
  std::int64_t records = 0;  // bad ones included
  std::int64_t bytes = 0;    // of the file
  std::uint32_t crc32c = 0;  // of the file; 0 if not needed
  Compression compression = Compression::kNone;
  std::vector<DamagedRecord> bad;
  std::vector<DamagedRecord> seek;  // good records with a wrong seek index
  std::vector<LostBytes> lost;
  std::vector<std::string> differences;  // from dataset.json
  std::vector<std::string> notes;        // RecordCursor::notes()
};

struct VerifyReport {
  std::vector<VerifiedShard> shards;
  std::vector<std::string> missing;   // paths
  std::vector<std::string> problems;  // of the set, a line each
};

struct VerifyTotals {
  std::int64_t records = 0;
  std::int64_t bad = 0;
  std::int64_t passed_over_bytes = 0;
  std::int64_t lost_records = 0;  // as far as an index tells
  std::int64_t wrong_seek_indexes = 0;
  std::int64_t problems = 0;  // including missing shards and differences
};

// The reader's error already contains the number of skipped bytes.
std::string LostText(const LostBytes& lost) {
  const RecordRange& records = *lost.records;
  return fmt::format(
      "bytes {}..{} were {}, by the index from before the damage",
      lost.gap.offset, lost.gap.offset + lost.gap.bytes - 1,
      records.count == 1 ? fmt::format("record {}", records.first)
                         : fmt::format("records {}..{}", records.first,
                                       records.first + records.count - 1));
}

Json ToJson(const std::vector<DamagedRecord>& bad) {
  Json list = Json::array();
  for (const DamagedRecord& record : bad) {
    list.push_back({{"record", record.record},
                    {"offset", record.offset},
                    {"reason", record.reason}});
  }
  return list;
}

Json ToJson(const std::vector<LostBytes>& lost) {
  Json list = Json::array();
  for (const LostBytes& bytes : lost) {
    Json json = {{"offset", bytes.gap.offset}, {"bytes", bytes.gap.bytes}};
    if (bytes.records) {
      json["first_record"] = bytes.records->first;
      json["records"] = bytes.records->count;
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json ToJson(const VerifiedShard& shard) {
  return {{"file", PathForMessages(shard.path)},
          {"records", shard.records},
          {"bytes", shard.bytes},
          {"compression", CompressionName(shard.compression)},
          {"bad", ToJson(shard.bad)},
          {"wrong_seek_indexes", ToJson(shard.seek)},
          {"passed_over", ToJson(shard.lost)},
          {"differences", shard.differences},
          {"notes", shard.notes}};
}

VerifyTotals SumUp(const VerifyReport& report) {
  VerifyTotals totals;
  totals.problems =
      static_cast<std::int64_t>(report.missing.size() + report.problems.size());
  for (const VerifiedShard& shard : report.shards) {
    totals.records += shard.records;
    totals.wrong_seek_indexes += static_cast<std::int64_t>(shard.seek.size());
    totals.bad += static_cast<std::int64_t>(shard.bad.size());
    totals.problems += static_cast<std::int64_t>(shard.differences.size());
    for (const LostBytes& lost : shard.lost) {
      totals.passed_over_bytes += lost.gap.bytes;
      totals.lost_records += lost.records ? lost.records->count : 0;
    }
  }
  return totals;
}

// Whether nothing is bad.
bool IsGood(const VerifyReport& report) {
  const VerifyTotals totals = SumUp(report);
  return totals.bad == 0 && totals.wrong_seek_indexes == 0 &&
         totals.problems == 0;
}

// The faults of one shard and notes on it, one per line.
std::string ShardText(const VerifiedShard& shard) {
  const std::string path = ShownText(PathForMessages(shard.path));
  std::string text = BadRecordsText(shard.path, shard.bad) +
                     BadRecordsText(shard.path, shard.seek);
  for (const LostBytes& lost : shard.lost) {
    if (lost.records) {
      text += fmt::format("{}: {}\n", path, LostText(lost));
    }
  }
  for (const std::string& difference : shard.differences) {
    text += fmt::format("{}: {}\n", path, ShownText(difference));
  }
  for (const std::string& note : shard.notes) {
    text += ShownText(note) + "\n";
  }
  return text;
}

// "2 bad records, 1 problem of the set"; counts of 0 are left out.
std::string CountsText(const VerifyTotals& totals) {
  std::string text;
  const auto add = [&text](std::int64_t count, const char* one,
                           const char* many) {
    if (count > 0) {
      text += (text.empty() ? "" : ", ") + CountText(count, one, many);
    }
  };
  add(totals.bad, "bad record", "");
  add(totals.wrong_seek_indexes, "wrong seek index", "wrong seek indexes");
  add(totals.problems, "problem of the set", "problems of the set");
  return text;
}

// The faults of the set, then "N records in M shards, B bad ...".
std::string SummaryText(const VerifyReport& report) {
  std::string text;
  for (const std::string& path : report.missing) {
    text += fmt::format("{}: missing\n", ShownText(PathForMessages(path)));
  }
  for (const std::string& problem : report.problems) {
    text += ShownText(problem) + "\n";
  }
  const VerifyTotals totals = SumUp(report);
  text += fmt::format("{} in {}, {} bad", CountText(totals.records, "record"),
                      CountText(report.shards.size(), "shard"), totals.bad);
  if (totals.wrong_seek_indexes > 0) {
    text += ", " + CountText(totals.wrong_seek_indexes, "wrong seek index",
                             "wrong seek indexes");
  }
  if (totals.passed_over_bytes > 0) {
    text += fmt::format(", {} skipped", FileSizeText(totals.passed_over_bytes));
  }
  if (totals.lost_records > 0) {
    text += fmt::format(", {} lost", CountText(totals.lost_records, "record"));
  }
  if (totals.problems > 0) {
    text += ", " + CountText(totals.problems, "problem of the set",
                             "problems of the set");
  }
  return text + "\n";
}

// The whole report as one JSON object. docs/records.md has the fields.
std::string VerifyJson(const VerifyReport& report) {
  const VerifyTotals totals = SumUp(report);
  Json shards = Json::array();
  for (const VerifiedShard& shard : report.shards) {
    shards.push_back(ToJson(shard));
  }
  const Json json = {{"good", IsGood(report)},
                     {"records", totals.records},
                     {"bad", totals.bad},
                     {"wrong_seek_indexes", totals.wrong_seek_indexes},
                     {"passed_over_bytes", totals.passed_over_bytes},
                     {"lost_records", totals.lost_records},
                     {"shards", std::move(shards)},
                     {"missing", report.missing},
                     {"problems", report.problems}};
  return JsonText(json, 2) + "\n";
}

// Checks the payloads of records.
class PayloadVisitor final : public RecordVisitor {
 public:
  PayloadVisitor(const VerifyOptions& options, const RecordKeys& keys,
                 SeekCheck& seek_check)
      : options_(options),
        check_(options.decode, {.image = keys.image}),
        seek_check_(seek_check) {}

  void Visit(std::size_t shard, const Record& record) override {
    if (!options_.parse_examples) {
      return;
    }
    const ImagenetExampleView example = check_.Check(record.payload);
    if (!example.encoded.empty()) {
      seek_check_.CheckRecord(shard, record, example);
    }
  }

 private:
  const VerifyOptions& options_;
  PayloadCheck check_;
  SeekCheck& seek_check_;
};

// One pass over the shards, and its findings.
class Verification {
 public:
  Verification(const ShardPaths& shards, const Command& command,
               const VerifyOptions& options)
      : paths_(shards),
        options_(options),
        keys_(options.decode ? KeysIn(shards, options.keys) : RecordKeys()),
        expected_(options.dataset_json ? ExpectedShards(shards)
                                       : ExpectedShards()),
        progress_(shards),
        seek_check_(shards, options.decode),
        sources_(shards.size()) {
    report_.problems = expected_.problems();
    AddFaults(command);
    for (const std::string& path : shards) {
      report_.shards.emplace_back().path = path;
    }
  }

  // Prints a shard's faults as soon as it is done, unless JSON replaces the
  // text.
  VerifyReport Run() {
    RecordVisitors visitors;
    for (std::size_t i = 0; i < ThreadCount(options_.threads); ++i) {
      visitors.push_back(
          std::make_unique<PayloadVisitor>(options_, keys_, seek_check_));
    }
    RecordPassOptions options = progress_.Options();
    options.image_key = keys_.image;
    options.open = [this](std::size_t shard) { return Open(shard); };
    options.read = [this](std::size_t shard, const RecordCursor& reader) {
      NoteFile(shard, reader);
    };
    PassOverRecords(paths_, visitors, options,
                    [this](ShardPass pass) { Finish(std::move(pass)); });
    return std::move(report_);
  }

 private:
  void AddFaults(const Command& command) {
    ShardSetFaults faults =
        FaultsAround(paths_, command.paths, options_.dataset_json);
    if (options_.dataset_json) {
      faults.Add(command.faults);
    }
    report_.problems.insert(report_.problems.end(), faults.mixed.begin(),
                            faults.mixed.end());
    if (!command.allow_missing_shards) {
      for (const auto& [shards, count] : faults.missing) {
        report_.missing.push_back(shards);
      }
    }
  }

  std::unique_ptr<ByteSource> Open(std::size_t shard) {
    std::unique_ptr<TrackedSource> source = progress_.Open(shard);
    sources_[shard] = source.get();
    seek_check_.Open(shard, source->size());
    return source;
  }

  // Notes facts about the file while it is open.
  void NoteFile(std::size_t shard, const RecordCursor& reader) {
    const TrackedSource& source = *sources_[shard];
    VerifiedShard& verified = report_.shards[shard];
    verified.bytes = source.size();
    verified.compression = reader.compression();
    verified.notes = reader.notes();
    if (!reader.gaps().empty()) {
      const std::optional<FrameOffsets> known = FindIndexHint(source);
      for (const Gap& gap : reader.gaps()) {
        verified.lost.push_back(
            {.gap = gap,
             .records = known ? LostRecords(*known, gap.offset, gap.bytes)
                              : std::nullopt});
      }
    }
    if (expected_.Find(verified.path)) {
      verified.crc32c = source.Checksum();
    }
  }

  void Finish(ShardPass pass) {
    VerifiedShard& verified = report_.shards[pass.shard];
    verified.records = pass.records;
    verified.bad = std::move(pass.bad);
    verified.seek =
        seek_check_.Take(pass.shard, pass.records, !verified.lost.empty());
    if (const auto expected = expected_.Find(verified.path)) {
      verified.differences = Differences(*expected, verified.records,
                                         verified.bytes, verified.crc32c);
    }
    if (!IsJsonOnly(options_.json)) {
      std::cout << ShardText(verified) << std::flush;
    }
  }

  const ShardPaths& paths_;
  const VerifyOptions& options_;
  const RecordKeys keys_;
  const ExpectedShards expected_;
  ShardProgress progress_;
  SeekCheck seek_check_;
  std::vector<const TrackedSource*> sources_;  // valid during the pass
  VerifyReport report_;
};

ProgramEnd VerifyRecords(const ShardPaths& shards, const Command& command,
                         const VerifyOptions& options) {
  const VerifyReport report = Verification(shards, command, options).Run();
  PutReport(
      options.json, [&] { return SummaryText(report); },
      [&] { return VerifyJson(report); });
  return IsGood(report)
             ? ProgramEnd(ExitCode::kDone)
             : ProgramEnd(ExitCode::kDataError, CountsText(SumUp(report)));
}

constexpr const char* kVerifyNotes =
    "Reads every record, checks both checksums and parses its Example.\n"
    "Prints each bad record with file, record and byte offset, and continues\n"
    "at the next good one. If an index from before the damage exists, prints\n"
    "which records were lost. Shards are compared with the dataset.json\n"
    "beside them, and missing shards of a set are listed. Ends with a line\n"
    "\"N records in M shards, B bad\"; exit code 3 when something is bad.\n"
    "\n"
    "Examples:\n"
    "  records verify SHARDS\n"
    "  records verify --decode 'SHARDS/validation-*'\n"
    "  records verify --json=report.json SHARDS\n"
    "  records verify --frames_only MODEL/events.out.tfevents.*\n";

}  // namespace

void AddVerifyVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* verify =
      AddVerb(app, command,
              {.name = "verify",
               .about = "Checks every record, and prints the bad ones",
               .more = kVerifyNotes,
               .faults = SetFaults::kReported},
              [options, &command](const ShardPaths& shards) {
                return VerifyRecords(shards, command, *options);
              });
  CLI::Option* decode = verify->add_flag(
      "--decode", options->decode,
      "Decode every image as well, and compare its seek index with a new one.");
  verify
      ->add_flag("!--frames_only", options->parse_examples,
                 "Check checksums only: the records need not be Examples.")
      ->excludes(decode);
  verify->add_flag("!--no_dataset_json", options->dataset_json,
                   "Do not compare with dataset.json.");
  AddKeyOptions(verify, options->keys);
  AddJsonOption(verify, options->json);
  AddThreadsOption(verify, options->threads);
}

}  // namespace infeed
