#include "tools/convert/report.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tools/convert/notices.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

void MoveTo(std::vector<ImageNote>& to, std::vector<ImageNote> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

Json ToJson(const std::vector<DuplicateGroup>& groups) {
  Json list = Json::array();
  for (const DuplicateGroup& group : groups) {
    Json images = Json::array();
    for (const DuplicateGroup::Image& image : group.images) {
      images.push_back({{"path", image.path},
                        {"class", image.class_name},
                        {"split", image.split}});
    }
    list.push_back(std::move(images));
  }
  return list;
}

Json ToJson(const std::vector<Notice>& notices) {
  Json list = Json::array();
  for (const Notice& notice : notices) {
    list.push_back({{"what", notice.what},
                    {"count", notice.count},
                    {"example", notice.example},
                    {"hint", notice.hint}});
  }
  return list;
}

Json ToJson(const std::vector<DatasetInfo::Split>& splits) {
  Json list = Json::array();
  for (const DatasetInfo::Split& split : splits) {
    std::int64_t bytes = 0;
    for (const DatasetInfo::Shard& shard : split.shards) {
      bytes += shard.bytes;
    }
    list.push_back({{"name", split.name},
                    {"records", split.records},
                    {"shards", split.shards.size()},
                    {"bytes", bytes}});
  }
  return list;
}

}  // namespace

std::string ReportPath(const std::string& output_dir, const TaskShare& share) {
  return ConversionSideFolder(output_dir) + "/" +
         (share.IsAll() ? "conversion_report.json"
                        : fmt::format("conversion_report-{:05}-of-{:05}.json",
                                      share.index, share.count));
}

ConversionReport MakeReport(const ConversionPlan& plan, const TaskShare& share,
                            std::vector<ShardResult> results) {
  ConversionReport report;
  report.share = share;
  report.duplicates = plan.duplicates;
  report.left_out = plan.left_out;
  report.info.seed = plan.seed;
  report.info.first_label = 1;  // as in record_maker.cc
  for (const ImageClass& image_class : plan.classes) {
    report.info.classes.push_back(image_class.name);
  }
  for (const PlannedSplit& split : plan.splits) {
    report.info.splits.push_back({split.name, 0, {}});
  }
  for (ShardResult& result : results) {
    DatasetInfo::Split& split = report.info.splits[result.task.split];
    split.records += result.shard.info.records;
    split.shards.push_back(std::move(result.shard.info));
    report.kept_shards += result.kept ? 1 : 0;
    MoveTo(report.reencoded, std::move(result.shard.reencoded));
    if (result.shard.seek_indexes) {
      report.seek_indexes =
          report.seek_indexes.value_or(0) + *result.shard.seek_indexes;
    }
    MoveTo(report.skipped, std::move(result.shard.skipped));
    MoveTo(report.not_turned, std::move(result.shard.not_turned));
  }
  return report;
}

void WriteReport(const std::string& output_dir,
                 const ConversionReport& report) {
  const Json json = {
      {"format", "infeed conversion report"},
      {"version", 1},
      {"task_index", report.share.index},
      {"num_tasks", report.share.count},
      {"classes", report.info.classes.size()},
      {"splits", ToJson(report.info.splits)},
      {"kept_shards", report.kept_shards},
      {"reencoded_images", report.reencoded.size()},
      {"skipped_images", report.skipped.size()},
      {"seek_indexes",
       report.seek_indexes ? Json(*report.seek_indexes) : Json()},
      {"duplicate_groups", report.duplicates.size()},
      {"notices", ToJson(NoticesOf(report))},
      {"skipped", report.skipped},
      {"reencoded", report.reencoded},
      {"not_turned", report.not_turned},
      {"duplicates", ToJson(report.duplicates)}};
  // File names may have any bytes; JSON is UTF-8.
  WriteFileAtomically(
      ReportPath(output_dir, report.share),
      json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void WriteDescription(const std::string& output_dir,
                      const ConversionReport& report) {
  for (const DatasetInfo::Split& split : report.info.splits) {
    if (split.records == 0) {
      Check(!report.skipped.empty(), "a split has images");
      throw DataError(
          split.name + ": not one of its images is good; the first: " +
          report.skipped.front().path + ": " + report.skipped.front().reason);
    }
  }
  std::string labels;
  for (const std::string& name : report.info.classes) {
    labels.append(name).append("\n");
  }
  WriteFileAtomically(output_dir + "/labels.txt", labels);
  WriteDatasetInfo(output_dir, report.info);
}

}  // namespace infeed
