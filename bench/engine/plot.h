#pragma once

#include <string>
#include <vector>

#include "bench/engine/run.h"

namespace infeed {

// The content of a file with the extension .svg: a standalone drawing of the
// rates over the numbers of threads, and of each stage's share of the threads'
// time in the fastest run; or .html: a self-contained page with these plots,
// the table of all runs, and the verdict. title: what was measured. Throws
// UsageError for other names.
[[nodiscard]] std::string ThroughputPlot(const std::string& path,
                                         const std::vector<ThroughputRun>& runs,
                                         const std::string& title);
// Throws what ThroughputPlot() would throw for the name.
void CheckPlotName(const std::string& path);

}  // namespace infeed
