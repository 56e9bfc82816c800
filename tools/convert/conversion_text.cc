#include "tools/convert/conversion_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/charts/progress.h"
#include "base/count_text.h"
#include "base/shell_word.h"
#include "base/shown_text.h"
#include "records/bytes/byte_size.h"
#include "tools/convert/earlier_work.h"
#include "tools/convert/finished_shard.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

std::string Line(const std::string& split, std::int64_t images,
                 std::size_t shards, std::int64_t bytes,
                 const std::string& path) {
  return fmt::format("{:<10} {:>9} {:<6}  {:>5} {:<6}  {:>12}  {}\n", split,
                     images, images == 1 ? "image" : "images", shards,
                     shards == 1 ? "shard" : "shards", FileSizeText(bytes),
                     ShownText(path));
}

ReportRow SplitsRow(const ConversionReport& report,
                    const std::string& output_dir) {
  std::vector<ReportTable> splits;
  for (const auto& [name, records, shards] : report.info.splits) {
    std::int64_t bytes = 0;
    for (const DatasetInfo::Shard& shard : shards) {
      bytes += shard.bytes;
    }
    // A share may have no shard of a split.
    const std::string line = shards.empty()
                                 ? ""
                                 : Line(name, records, shards.size(), bytes,
                                        output_dir + "/" + shards.front().name);
    splits.push_back({{"name", name},
                      {"records", records},
                      {"shards", shards.size()},
                      {"bytes", bytes, line}});
  }
  return ListRow("splits", splits);
}

ReportRow SeekIndexesRow(const ConversionReport& report) {
  ReportRow row = {.key = "seek_indexes"};
  if (report.seek_indexes) {
    std::int64_t images = 0;
    for (const DatasetInfo::Split& split : report.info.splits) {
      images += split.records;
    }
    row.value = *report.seek_indexes;
    row.text = fmt::format("seek index: {} of {}\n", *report.seek_indexes,
                           CountText(images, "image"));
  }
  return row;
}

// "2 images were re-encoded"; no text if there are none.
ReportRow CountRow(const std::string& key, std::int64_t count,
                   std::string_view one, std::string_view many,
                   std::string_view done) {
  return {key, count,
          count == 0
              ? ""
              : fmt::format("{} {}\n", CountText(count, one, many), done)};
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

// The rate of the work that was done in this time, and the time for the rest.
std::string RateText(std::int64_t done, std::int64_t left, double seconds,
                     std::string_view items) {
  if (done <= 0 || seconds <= 0) {
    return "";
  }
  const double rate = static_cast<double>(done) / seconds;
  return fmt::format("  {:.1f} {}/s  ETA {}", rate, items,
                     ShortDuration(static_cast<double>(left) / rate));
}

}  // namespace

std::string PlanText(const ConversionPlan& plan, const std::string& output_dir,
                     const ConverterOptions& options,
                     const UploadTarget& target) {
  std::string text;
  for (const PlannedSplit& split : plan.splits) {
    text += Line(split.name, std::ssize(split.images), split.shards.size(),
                 split.bytes, output_dir + "/" + split.shards.front().name);
  }
  const EarlierWork work = FindEarlierWork(plan, output_dir, options);
  const std::size_t shards = work.kept.size() + work.missing.size();
  if (!options.share.IsAll()) {
    text += fmt::format("task {} of {}: {} of the {}\n", options.share.index,
                        options.share.count, shards,
                        CountText(plan.shards(), "shard"));
  }
  if (!work.kept.empty()) {
    text +=
        fmt::format("{} of an earlier run would be kept, {} written\n",
                    CountText(work.kept.size(), "shard"), work.missing.size());
  }
  if (const std::size_t stale = StaleShards(plan, output_dir).size()) {
    text +=
        fmt::format("{} of another conversion {}\n", CountText(stale, "shard"),
                    options.overwrite ? "would be removed"
                    : stale == 1      ? "is in the way: --overwrite removes it"
                                 : "are in the way: --overwrite removes them");
  }
  if (!target.empty()) {
    text +=
        fmt::format("{} would be uploaded to {}\n", CountText(shards, "shard"),
                    ShownText(target.ObjectOf("")));
  }
  return text + fmt::format("{}; nothing was written (--dry_run)\n",
                            CountText(plan.classes.size(), "class", "classes"));
}

std::string UploadText(const UploadResult& result, const UploadTarget& target) {
  std::string text =
      fmt::format("{} uploaded to {}\n",
                  CountText(result.uploaded, "shard was", "shards were"),
                  ShownText(target.ObjectOf("")));
  if (result.skipped > 0) {
    text += CountText(result.skipped, "shard was", "shards were") +
            " there already\n";
  }
  return text;
}

ReportRow NoticesRow(const std::vector<Notice>& notices) {
  std::vector<ReportTable> rows;
  for (const Notice& notice : notices) {
    rows.push_back(
        {{"what", notice.what, notice.what + ": "},
         {"count", notice.count, fmt::format("{}, such as ", notice.count)},
         {"example", notice.example, ShownText(notice.example)},
         {"hint", notice.hint, "; " + notice.hint + "\n"}});
  }
  return ListRow("notices", rows);
}

ReportTable ConversionTable(const ConversionReport& report,
                            const std::string& output_dir) {
  const TaskShare& share = report.share;
  const std::string classes =
      CountText(report.info.classes.size(), "class", "classes");
  const bool lists_images =
      !report.reencoded.empty() || !report.skipped.empty();
  return {
      {"format", "infeed conversion report"},
      {"version", 1},
      {"task_index", share.index},
      {"num_tasks", share.count},
      SplitsRow(report, output_dir),
      {"classes", report.info.classes.size(),
       share.IsAll()
           ? fmt::format("{} in {}/labels.txt\n", classes,
                         ShownText(output_dir))
           : fmt::format("task {} of {} is done; --finish once all are\n",
                         share.index, share.count)},
      SeekIndexesRow(report),
      CountRow("kept_shards", report.kept_shards, "shard of an earlier run was",
               "shards of an earlier run were", "kept"),
      CountRow("reencoded_images", std::ssize(report.reencoded), "image was",
               "images were", "re-encoded"),
      CountRow("skipped_images", std::ssize(report.skipped), "bad image was",
               "bad images were", "left out"),
      {"",
       {},
       lists_images ? ShownText(ReportPath(output_dir, share)) + " lists them\n"
                    : ""},
      {"notices", NoticesRow(MakeNotices(report)).value},
      {"skipped", report.skipped},
      {"reencoded", report.reencoded},
      {"not_turned", report.not_turned},
      {"duplicate_groups", report.duplicates.size()},
      {"duplicates", ToJson(report.duplicates)}};
}

std::string NextText(const ConversionReport& report,
                     const std::string& output_dir, bool has_boxes) {
  if (!report.share.IsAll()) {
    return "";
  }
  const std::string out = ShownText(ShellWord(output_dir));
  return fmt::format(
      "next: records verify {}\n      {}\n", out,
      has_boxes
          ? "infeed.Loader(..., objects=infeed.Objects(\"infeed\")) in Python"
          : fmt::format("train_resnet --data_dir {} --model_dir MODEL", out));
}

std::vector<std::string> BadImageLines(const ConversionReport& report) {
  std::vector<std::string> lines;
  for (const ImageNote& image : report.skipped) {
    lines.push_back(image.path + ": left out: " + image.reason);
  }
  for (const ImageNote& image : report.reencoded) {
    if (image.reason.starts_with(kDamaged)) {
      lines.push_back(image.path + ": re-encoded: " + image.reason);
    }
  }
  return lines;
}

std::string FirstLines(const std::vector<std::string>& lines,
                       std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, lines.size()); ++i) {
    text += ShownText(lines[i]) + "\n";
  }
  if (lines.size() > limit) {
    text += fmt::format("... and {} more\n", lines.size() - limit);
  }
  return text;
}

std::string ConversionProgressText(const ConversionProgress& progress,
                                   double seconds) {
  const auto& [done, kept, total] = progress;
  const double share =
      total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
  return fmt::format("{}/{} images  {:.1f} %", done, total, 100 * share) +
         RateText(done - kept, total - done, seconds, "images");
}

std::string ShardsProgressText(std::string_view what, std::int64_t done,
                               std::int64_t total, double seconds) {
  return fmt::format("{}/{} shards {}", done, total, what) +
         RateText(done, total - done, seconds, "shards");
}

}  // namespace infeed
