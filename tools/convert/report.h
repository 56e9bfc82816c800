#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/convert/converter.h"
#include "tools/convert/plan.h"

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

}  // namespace infeed
