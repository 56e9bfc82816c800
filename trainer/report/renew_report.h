#pragma once

#include <cstdint>
#include <string>

#include "trainer/report/report.h"

namespace infeed {

// The report `page` with the curves, the classes and the other evaluations of
// `fresh`, a ReportPage() of the same training: an evaluation by itself knows
// nothing of the times and the input of the run that wrote `page`. Returns
// `page` if it is no report.
[[nodiscard]] std::string WithEvaluationsOf(const std::string& page,
                                            const std::string& fresh);

// Brings MODEL_DIR/report.html up to date after an evaluation that no training
// made; no report: none is written. state: evaluation and evaluation_step are
// shown unless the training has a later evaluation. Throws IoError.
void RenewReport(const std::string& model_dir, const ReportSubject& subject,
                 ReportState state);

}  // namespace infeed
