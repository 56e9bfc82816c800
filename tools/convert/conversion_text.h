#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/report_table.h"
#include "tools/convert/converter.h"
#include "tools/convert/plan.h"
#include "tools/convert/report.h"
#include "tools/convert/shard_upload.h"

// A conversion's messages to its user, in whole lines.
namespace infeed {

// The files that would be written, kept and uploaded, for --dry_run. Throws as
// FindEarlierWork().
[[nodiscard]] std::string PlanText(const ConversionPlan& plan,
                                   const std::string& output_dir,
                                   const ConverterOptions& options,
                                   const UploadTarget& target);

// The result of the upload.
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
