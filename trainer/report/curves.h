#pragma once

#include <string>

#include "trainer/log/run_history.h"

namespace infeed {

// The report's plots over all runs of a training, as SVG; "" where there is
// nothing to draw.
struct ReportCurves {
  std::string loss;      // of training and evaluation
  std::string accuracy;  // likewise
  std::string learning_rate;
  std::string images_per_second;  // without warm-up
  std::string input_wait;         // likewise
};

[[nodiscard]] ReportCurves CurvesOf(const RunHistory& history);

}  // namespace infeed
