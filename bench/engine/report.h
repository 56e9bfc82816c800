#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/engine/run.h"
#include "tools/cli/report_table.h"

namespace infeed {

// The run with the highest median. Requires: runs is not empty.
[[nodiscard]] const ThroughputRun& FastestRun(
    const std::vector<ThroughputRun>& runs);

// The bottleneck of the run's median round, in words.
[[nodiscard]] std::string VerdictText(const ThroughputRun& run);

// The columns of a table of runs.
inline constexpr std::array kRunColumns = {
    "threads", "images/s",    "min",           "max",
    "spread",  "CPU s/1,000", "G instr/1,000", "input wait"};

// A run in JSON: the statistics of its median round, with the figures over all
// rounds. The texts of the first rows are its cells under kRunColumns; the
// other rows have none.
[[nodiscard]] ReportTable RunRows(const ThroughputRun& run);

// As text: the table of runs, then the fastest run's stages, verdict, time to
// the first batch, and memory. As JSON: the fastest run's keys, the peak
// memory, the SIMD target, the options, and every run under "runs".
[[nodiscard]] ReportTable ThroughputReport(
    const std::vector<ThroughputRun>& runs, const ThroughputOptions& options,
    std::int64_t records, std::int64_t peak_rss_bytes);

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
