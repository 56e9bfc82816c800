#pragma once

#include <string>

#include "trainer/report/data.h"

namespace infeed {

// The report as one HTML page that needs no other file and no script.
[[nodiscard]] std::string ReportPage(const ReportSubject& subject,
                                     const RunHistory& history,
                                     const ReportState& state);

}  // namespace infeed
