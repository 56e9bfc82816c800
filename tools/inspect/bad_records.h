#pragma once

#include <string>
#include <vector>

#include "tools/cli/report_table.h"
#include "tools/shards/record_pass.h"

namespace infeed {

// The bad records of a shard; a line of the text is "PATH: record N at byte O:
// REASON".
[[nodiscard]] ReportRow BadRecordsRow(const std::string& key,
                                      const std::string& path,
                                      const std::vector<DamagedRecord>& bad);

}  // namespace infeed
