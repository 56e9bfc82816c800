#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/report_table.h"
#include "tools/convert/converter.h"
#include "tools/convert/plan.h"
#include "tools/convert/shard_upload.h"

// A conversion's messages to its user, in whole lines.
namespace infeed {

struct ShardResult;

// Combines the results of shards. Requires: they are in the plan's order.
[[nodiscard]] ConversionReport MakeReport(const ConversionPlan& plan,
                                          const TaskShare& share,
                                          std::vector<ShardResult> results);

// An unexpected result of a successful conversion: images that were changed,
// stored without the rotation in their EXIF data, or left out.
struct Notice {
  std::string what;  // "PNG images that became lossy JPEGs"
  std::int64_t count = 0;
  std::string example;  // path of the first one
  std::string hint;     // the flag or other advice that helps
};

// Notices of files and folders that were left out, in the order of the list.
[[nodiscard]] std::vector<Notice> MakeNotices(const std::vector<LeftOut>& list);

// All notices of a conversion. Images of an unreadable format are counted
// whether their name or their content showed the format.
[[nodiscard]] std::vector<Notice> MakeNotices(const ConversionReport& report);

// conversion_report.json in the side folder, or for a share
// conversion_report-00003-of-00008.json.
[[nodiscard]] std::string ReportPath(const std::string& output_dir,
                                     const TaskShare& share);

// Writes the JSON of ConversionTable() atomically. Throws IoError.
void WriteReport(const std::string& output_dir, const ConversionReport& report);

// Writes labels.txt, one class per line, and last dataset.json, which completes
// the data set. Throws IoError, and DataError for a split without a record.
void WriteDescription(const std::string& output_dir,
                      const ConversionReport& report);

// The files that would be written, kept and uploaded, for --dry_run. Throws as
// FindEarlierWork().
[[nodiscard]] std::string PlanText(const ConversionPlan& plan,
                                   const std::string& output_dir,
                                   const ConverterOptions& options,
                                   const UploadTarget& target);

[[nodiscard]] std::string UploadText(const UploadResult& result,
                                     const UploadTarget& target);

// The result of the conversion; docs/converter.md has the fields of the JSON.
[[nodiscard]] ReportTable ConversionTable(const ConversionReport& report,
                                          const std::string& output_dir);

// A line for each notice: "WHAT: COUNT, such as EXAMPLE; HINT".
[[nodiscard]] ReportRow NoticesRow(const std::vector<Notice>& notices);

// The commands that check the shards and train on them (with boxes: read them);
// "" after a task of several, whose set is not complete yet.
[[nodiscard]] std::string NextText(const ConversionReport& report,
                                   const std::string& output_dir,
                                   bool has_boxes);

// A line for each broken image, skipped or mended.
[[nodiscard]] std::vector<std::string> BadImageLines(
    const ConversionReport& report);

// The first few of the lines, and the number of the others.
[[nodiscard]] std::string FirstLines(const std::vector<std::string>& lines,
                                     std::size_t limit);

// "1200/5000 images 24.0 % 512.3 images/s ETA 7s", without a newline. seconds:
// since this run began; images of an earlier run do not count in the rate.
[[nodiscard]] std::string ConversionProgressText(
    const ConversionProgress& progress, double seconds);

// "3/8 shards checked  1.5 shards/s  ETA 3s"; `what` is "checked" here.
[[nodiscard]] std::string ShardsProgressText(std::string_view what,
                                             std::int64_t done,
                                             std::int64_t total,
                                             double seconds);

}  // namespace infeed
