#include "tools/records/verify_report.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"
#include "tools/records/command.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

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
          {"differences", shard.differences}};
}

}  // namespace

VerifyTotals TotalsOf(const VerifyReport& report) {
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

bool IsGood(const VerifyReport& report) {
  const VerifyTotals totals = TotalsOf(report);
  return totals.bad == 0 && totals.wrong_seek_indexes == 0 &&
         totals.problems == 0;
}

std::string ShardText(const VerifiedShard& shard) {
  const std::string path = PathForMessages(shard.path);
  std::string text = BadRecordsText(shard.path, shard.bad) +
                     BadRecordsText(shard.path, shard.seek);
  for (const LostBytes& lost : shard.lost) {
    if (lost.records) {
      text += fmt::format("{}: {}\n", path, LostText(lost));
    }
  }
  for (const std::string& difference : shard.differences) {
    text += fmt::format("{}: {}\n", path, difference);
  }
  return text;
}

std::string SummaryText(const VerifyReport& report) {
  std::string text;
  for (const std::string& path : report.missing) {
    text += fmt::format("{}: missing\n", PathForMessages(path));
  }
  for (const std::string& problem : report.problems) {
    text += problem + "\n";
  }
  const VerifyTotals totals = TotalsOf(report);
  text += fmt::format("{} records in {} shards, {} bad", totals.records,
                      report.shards.size(), totals.bad);
  if (totals.wrong_seek_indexes > 0) {
    text += fmt::format(", {} wrong seek indexes", totals.wrong_seek_indexes);
  }
  if (totals.passed_over_bytes > 0) {
    text +=
        fmt::format(", {} passed over", FileSizeText(totals.passed_over_bytes));
  }
  if (totals.lost_records > 0) {
    text += fmt::format(", {} records lost", totals.lost_records);
  }
  if (totals.problems > 0) {
    text += fmt::format(", {} problems of the set", totals.problems);
  }
  return text + "\n";
}

std::string VerifyJson(const VerifyReport& report) {
  const VerifyTotals totals = TotalsOf(report);
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
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
