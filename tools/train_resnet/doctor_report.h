#pragma once

#include <vector>

#include "tools/cli/report_table.h"
#include "trainer/log/findings.h"

namespace infeed {

// The report of --mode doctor. Text: one line each, "ok  " or "WARN", then an
// indented line of advice. JSON: {"schema":1,"warnings":2,"findings":
// [{"name":..,"value":..,"ok":..,"advice":..},..]}
[[nodiscard]] ReportTable DoctorReport(const std::vector<Finding>& findings);

}  // namespace infeed
