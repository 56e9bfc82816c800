#include "tools/convert/conversion_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/charts/progress.h"
#include "base/count_text.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/shell_word.h"
#include "base/shown_text.h"
#include "records/bytes/byte_size.h"
#include "records/files/unreadable_format.h"
#include "tools/convert/earlier_work.h"
#include "tools/convert/finished_shard.h"
#include "tools/convert/image_encoder.h"
#include "tools/convert/shard_converter.h"

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

// A line of a plan about files of another conversion; no text if there are
// none. does: "remove".
std::string InTheWay(std::size_t count, std::string_view what,
                     std::string_view does, bool overwrite) {
  if (count == 0) {
    return "";
  }
  return fmt::format(
      "{} of another conversion {}\n", CountText(count, what),
      overwrite    ? fmt::format("would be {}d", does)
      : count == 1 ? fmt::format("is in the way: --overwrite {}s it", does)
                   : fmt::format("are in the way: --overwrite {}s them", does));
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
  if (!work.replaced.empty()) {
    text += fmt::format("{} in the folder would be replaced\n",
                        CountText(work.replaced.size(), "shard"));
  }
  text += InTheWay(StaleShards(plan, output_dir).size(), "shard", "remove",
                   options.overwrite);
  text += InTheWay(work.foreign.size(), "file", "replace", options.overwrite);
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
      CountRow("replaced_shards", report.replaced_shards,
               "shard in the folder was", "shards in the folder were",
               "replaced"),
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

namespace {

void MoveTo(std::vector<ImageNote>& to, std::vector<ImageNote> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

Notice MakeNotice(const LeftOut& left_out) {
  Notice notice = {.what = "",
                   .count = left_out.count,
                   .example = left_out.example,
                   .hint = ""};
  switch (left_out.kind) {
    case LeftOut::Kind::kUnreadable:
      notice.what = left_out.format + " files left out";
      notice.hint = UnreadableReason(left_out.format);
      return notice;
    case LeftOut::Kind::kOtherFiles:
      notice.what = "files left out whose names are not those of images";
      notice.hint = "a --manifest takes files of any name";
      return notice;
  }
  std::abort();
}

// Adds a notice of the notes, if there are any.
void AddNotice(std::vector<Notice>& notices,
               const std::vector<ImageNote>& notes, std::string what,
               std::string hint) {
  if (!notes.empty()) {
    notices.push_back({.what = std::move(what),
                       .count = std::ssize(notes),
                       .example = notes.front().path,
                       .hint = std::move(hint)});
  }
}

}  // namespace

std::vector<Notice> MakeNotices(const std::vector<LeftOut>& list) {
  std::vector<Notice> notices;
  notices.reserve(list.size());
  for (const LeftOut& left_out : list) {
    notices.push_back(MakeNotice(left_out));
  }
  return notices;
}

std::vector<Notice> MakeNotices(const ConversionReport& report) {
  std::vector<LeftOut> left_out = report.left_out;
  for (const ImageNote& note : report.skipped) {
    const std::string_view format = FindFormatInReason(note.reason);
    if (!format.empty()) {
      AddLeftOut(left_out, {.kind = LeftOut::Kind::kUnreadable,
                            .format = std::string(format),
                            .count = 1,
                            .example = note.path});
    }
  }
  std::vector<Notice> notices = MakeNotices(left_out);
  std::vector<ImageNote> lossy = report.reencoded;
  std::erase_if(lossy,
                [](const ImageNote& note) { return note.reason != kLossyPng; });
  AddNotice(notices, lossy, "PNG images that became lossy JPEGs",
            "--keep_png stores them as they are");
  AddNotice(notices, report.not_turned,
            "images stored without the rotation in their EXIF data",
            "--exif_rotate turns them");
  return notices;
}

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
  // Labels in tars count from 0 (record_maker.cc).
  report.info.first_label = plan.format == ShardFormat::kWebdataset ? 0 : 1;
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
  WriteFileAtomically(ReportPath(output_dir, report.share),
                      RenderJson(ConversionTable(report, output_dir)),
                      kInOwnFolder);
}

void WriteDescription(const std::string& output_dir,
                      const ConversionReport& report) {
  for (const DatasetInfo::Split& split : report.info.splits) {
    if (split.records == 0) {
      Check(!report.skipped.empty(), "a split has images");
      throw DataError(split.name + ": all its images are bad; the first: " +
                      report.skipped.front().path + ": " +
                      report.skipped.front().reason);
    }
  }
  std::string labels;
  for (const std::string& name : report.info.classes) {
    labels.append(name).append("\n");
  }
  WriteFileAtomically(output_dir + "/labels.txt", labels);
  WriteDatasetInfo(output_dir, report.info);
  RemoveUnfinished(output_dir);
}

}  // namespace infeed
