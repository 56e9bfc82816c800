#pragma once

#include "trainer/job/job.h"
#include "trainer/report/report.h"

namespace infeed {

// What the report of a job is about: its model, its parameters with where each
// came from, its classes' names, and where it runs.
[[nodiscard]] ReportSubject ReportSubjectOf(const Job& job);

}  // namespace infeed
