#pragma once

#include <string>
#include <vector>

#include "bench/engine/run.h"

namespace infeed {

// The rates over the numbers of threads, and what share of its threads' time
// each stage of the fastest run took: a drawing that stands alone.
[[nodiscard]] std::string ThroughputSvg(const std::vector<ThroughputRun>& runs);

// One HTML page that needs no other file: these plots, the table of all runs,
// and the verdict. title says what was measured.
[[nodiscard]] std::string ThroughputHtml(const std::vector<ThroughputRun>& runs,
                                         const std::string& title);

// What belongs into a file of that name, by its end .svg or .html. Throws
// UsageError for another.
[[nodiscard]] std::string ThroughputPlot(const std::string& path,
                                         const std::vector<ThroughputRun>& runs,
                                         const std::string& title);
// Throws what ThroughputPlot() would throw for the name.
void CheckPlotName(const std::string& path);

}  // namespace infeed
