#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/report/data.h"

// The report's tables as HTML; "" where there is nothing to say.
namespace infeed {

// Where a run's seconds went, and their shares.
[[nodiscard]] std::string TimesTable(const RunTimes& times);

// What the device reached in loops, beside the most that it does where that was
// measured.
[[nodiscard]] std::string DeviceTable(const DeviceUse& use,
                                      const DeviceCeilings& ceilings);

// The stages and queues of the input.
[[nodiscard]] std::string StagesTable(const PipelineStats& stats);

// "ended", "stopped", "diverged".
[[nodiscard]] std::string_view EndText(RunEnd end);

// Each start of the program, with its warm-up.
[[nodiscard]] std::string RunsTable(const RunHistory& history);

// Parameters that were given or follow from the data, and behind a click those
// that are defaults.
[[nodiscard]] std::string ConfigurationTable(
    const std::vector<ReportFact>& parameters);

// Where the run came from, and the most memory that it took.
[[nodiscard]] std::string OriginTable(const RunOrigin& origin,
                                      std::int64_t peak_memory_bytes);

// Links to files beside the report.
[[nodiscard]] std::string FileList(const std::vector<std::string>& files);

}  // namespace infeed
