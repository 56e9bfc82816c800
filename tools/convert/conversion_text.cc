#include "tools/convert/conversion_text.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/charts/progress.h"
#include "base/count_text.h"
#include "base/shell_word.h"
#include "base/shown_text.h"
#include "records/bytes/byte_size.h"
#include "tools/convert/earlier_work.h"

namespace infeed {
namespace {

std::string Line(const std::string& split, std::int64_t images,
                 std::size_t shards, std::int64_t bytes,
                 const std::string& path) {
  return fmt::format("{:<10} {:>9} {:<6}  {:>5} {:<6}  {:>12}  {}\n", split,
                     images, images == 1 ? "image" : "images", shards,
                     shards == 1 ? "shard" : "shards", FileSizeText(bytes),
                     ShownText(path));
}

std::int64_t CountRecords(const ConversionReport& report) {
  std::int64_t records = 0;
  for (const DatasetInfo::Split& split : report.info.splits) {
    records += split.records;
  }
  return records;
}

}  // namespace

std::string PlanText(const ConversionPlan& plan, const std::string& output_dir,
                     const ConverterOptions& options,
                     const UploadTarget& target) {
  std::string text;
  for (const PlannedSplit& split : plan.splits) {
    text += Line(split.name, static_cast<std::int64_t>(split.images.size()),
                 split.shards.size(), split.bytes,
                 output_dir + "/" + split.shards.front().name);
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

std::string ReportText(const ConversionReport& report,
                       const std::string& output_dir) {
  std::string text;
  for (const DatasetInfo::Split& split : report.info.splits) {
    std::int64_t bytes = 0;
    for (const DatasetInfo::Shard& shard : split.shards) {
      bytes += shard.bytes;
    }
    if (!split.shards.empty()) {  // A share may have no shard of a split.
      text += Line(split.name, split.records, split.shards.size(), bytes,
                   output_dir + "/" + split.shards.front().name);
    }
  }
  text += report.share.IsAll()
              ? fmt::format(
                    "{} in {}/labels.txt\n",
                    CountText(report.info.classes.size(), "class", "classes"),
                    ShownText(output_dir))
              : fmt::format("task {} of {} is done; --finish once all are\n",
                            report.share.index, report.share.count);
  if (report.seek_indexes) {
    text += fmt::format("seek index: {} of {}\n", *report.seek_indexes,
                        CountText(CountRecords(report), "image"));
  }
  if (report.kept_shards > 0) {
    text += CountText(report.kept_shards, "shard of an earlier run was",
                      "shards of an earlier run were") +
            " kept\n";
  }
  if (!report.reencoded.empty()) {
    text += CountText(report.reencoded.size(), "image was", "images were") +
            " re-encoded\n";
  }
  if (!report.skipped.empty()) {
    text +=
        CountText(report.skipped.size(), "bad image was", "bad images were") +
        " left out\n";
  }
  if (!report.reencoded.empty() || !report.skipped.empty()) {
    text += ShownText(ReportPath(output_dir, report.share)) + " lists them\n";
  }
  return text;
}

std::string NextText(const ConversionReport& report,
                     const std::string& output_dir) {
  if (!report.share.IsAll()) {
    return "";
  }
  const std::string out = ShownText(ShellWord(output_dir));
  return fmt::format(
      "next: records verify {}\n"
      "      train_resnet --data_dir {} --model_dir MODEL\n",
      out, out);
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
  const auto done = static_cast<double>(progress.done);
  const auto total = static_cast<double>(progress.total);
  std::string text =
      fmt::format("{}/{} images  {:.1f} %", progress.done, progress.total,
                  progress.total > 0 ? 100.0 * done / total : 100.0);
  if (progress.done > progress.kept && seconds > 0) {
    const double rate =
        static_cast<double>(progress.done - progress.kept) / seconds;
    text += fmt::format("  {:.1f} images/s  ETA {}", rate,
                        ShortDuration((total - done) / rate));
  }
  return text;
}

std::string ShardsProgressText(std::string_view what, std::int64_t done,
                               std::int64_t total, double seconds) {
  std::string text = fmt::format("{}/{} shards {}", done, total, what);
  if (done > 0 && seconds > 0) {
    const double rate = static_cast<double>(done) / seconds;
    text +=
        fmt::format("  {:.1f} shards/s  ETA {}", rate,
                    ShortDuration(static_cast<double>(total - done) / rate));
  }
  return text;
}

}  // namespace infeed
