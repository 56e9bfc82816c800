#pragma once

#include "trainer/job/job.h"
#include "trainer/report/report.h"

// Describes a training run in its model directory.
namespace infeed {

// Writes params.yaml, with the run's origin as comments, and labels.txt. Throws
// IoError.
void WriteDescription(const Job& job);

// The unchanging part of a job's report: its model, its parameters with their
// origins, its classes' names, and the machine.
[[nodiscard]] ReportSubject MakeReportSubject(const Job& job);

}  // namespace infeed
