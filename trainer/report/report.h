#pragma once

#include <string>

#include "trainer/report/data.h"

namespace infeed {

// MODEL_DIR/report.html: what a training has done so far, for a reader. Written
// whole each time, from metrics.jsonl and what the run knows itself.
//
// One thread at a time. Throws IoError.
class Report {
 public:
  Report(const std::string& model_dir, ReportSubject subject);

  // The state's files are filled in here.
  void Write(ReportState state);

 private:
  std::string model_dir_;
  ReportSubject subject_;
  RunHistory history_;
};

}  // namespace infeed
