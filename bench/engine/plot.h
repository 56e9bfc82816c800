#pragma once

#include <string>
#include <vector>

#include "bench/engine/run.h"

namespace infeed {

// A standalone drawing: the rates over the numbers of threads, and each stage's
// share of the threads' time in the fastest run.
[[nodiscard]] std::string ThroughputSvg(const std::vector<ThroughputRun>& runs);

// A self-contained HTML page: these plots, the table of all runs, and the
// verdict. title: what was measured.
[[nodiscard]] std::string ThroughputHtml(const std::vector<ThroughputRun>& runs,
                                         const std::string& title);

// The content of a file with the extension .svg or .html. Throws UsageError for
// other names.
[[nodiscard]] std::string ThroughputPlot(const std::string& path,
                                         const std::vector<ThroughputRun>& runs,
                                         const std::string& title);
// Throws what ThroughputPlot() would throw for the name.
void CheckPlotName(const std::string& path);

}  // namespace infeed
