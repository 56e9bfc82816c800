#pragma once

#include "trainer/job/job.h"
#include "trainer/report/report.h"

namespace infeed {

// The unchanging part of a job's report: its model, its parameters with their
// origins, its classes' names, and the machine.
[[nodiscard]] ReportSubject ReportSubjectOf(const Job& job);

}  // namespace infeed
