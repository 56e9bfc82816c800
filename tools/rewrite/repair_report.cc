#include "tools/rewrite/repair_report.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

struct Totals {
  std::int64_t records = 0;
  std::int64_t bad = 0;
  std::int64_t bad_bytes = 0;
  std::int64_t lost_records = 0;
};

Totals TotalsOf(const RepairReport& report) {
  Totals totals;
  for (const ShardRepairReport& shard : report.shards) {
    totals.records += shard.shard.records;
    totals.bad += static_cast<std::int64_t>(shard.bad.size());
    totals.bad_bytes += shard.bad_bytes();
    totals.lost_records += shard.lost_records();
  }
  return totals;
}

std::string LostText(const BadPlace& place) {
  if (!place.lost) {
    return "";
  }
  const RecordRange& lost = *place.lost;
  return lost.count == 1 ? fmt::format(" (record {})", lost.first)
                         : fmt::format(" (records {} to {})", lost.first,
                                       lost.first + lost.count - 1);
}

}  // namespace

std::string RepairReportText(const RepairReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.shards.size(); ++i) {
    for (const BadPlace& place : report.shards[i].bad) {
      text += fmt::format("{}: {} bytes at byte {}{}: {}\n",
                          PathForMessages(report.inputs[i]), place.bytes,
                          place.offset, LostText(place), place.reason);
    }
  }
  const Totals totals = TotalsOf(report);
  text += fmt::format("{} good records in {} shards, {} bad places",
                      totals.records, report.shards.size(), totals.bad);
  if (totals.bad > 0) {
    text += fmt::format(" ({}, {} records known to be lost) in {}/.infeed",
                        FileSizeText(totals.bad_bytes), totals.lost_records,
                        report.output);
  }
  return text + "\n";
}

std::string RepairReportJson(const RepairReport& report) {
  using Json = nlohmann::ordered_json;
  Json shards = Json::array();
  for (std::size_t i = 0; i < report.shards.size(); ++i) {
    const ShardRepairReport& shard = report.shards[i];
    const Json list = Json::parse(
        BadPlacesJson(PathForMessages(report.inputs[i]), shard.bad));
    shards.push_back({{"file", PathForMessages(report.inputs[i])},
                      {"name", shard.shard.name},
                      {"records", shard.shard.records},
                      {"bytes", shard.shard.bytes},
                      {"crc32c", shard.shard.crc32c},
                      {"bad_bytes", shard.bad_bytes()},
                      {"bad", list.at("bad")}});
  }
  const Totals totals = TotalsOf(report);
  const Json json = {{"output", report.output},
                     {"records", totals.records},
                     {"bad", totals.bad},
                     {"bad_bytes", totals.bad_bytes},
                     {"records_lost", totals.lost_records},
                     {"shards", std::move(shards)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
