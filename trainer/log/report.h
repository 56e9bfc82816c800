#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stats/stats.h"
#include "trainer/log/profiler.h"
#include "trainer/log/run_clock.h"
#include "trainer/log/run_history.h"
#include "trainer/log/run_origin.h"
#include "trainer/model/device_use.h"
#include "trainer/results/eval_result.h"

namespace infeed {

// A parameter in the report.
struct ReportFact {
  std::string name;
  std::string value;
  std::string origin = {};  // empty: it is the default
};

// The part of the report that does not change during a run.
struct ReportSubject {
  std::string title = {};  // "ResNet-50"
  std::int64_t total_steps = 0;
  int batch_size = 1;
  std::int64_t iterations_per_loop = 1;
  std::vector<std::string> class_names = {};  // by label; may be too few
  // Terms of the training's loss that are not in the evaluation's, as "the L2
  // term"; "": none.
  std::string more_in_loss = {};
  // The model directory as the user names it, for --mode replay; "": the run's
  // batches cannot be made again.
  std::string replay_dir = {};
  std::vector<ReportFact> configuration = {};
  RunOrigin origin = {};
};

struct ReportState {
  std::int64_t step = 0;
  std::optional<RunEnd> end = {};
  RunTimes times = {};
  DeviceCeilings ceilings = {};
  PipelineStats input = {};                   // during loops
  std::optional<EvalResult> evaluation = {};  // the newest of this run
  std::int64_t evaluation_step = 0;
  std::optional<Profile> profile = {};  // the newest of this run
  std::int64_t peak_memory_bytes = 0;   // of this process
  std::vector<std::string> files = {};  // relative to model_dir
};

// The report as a self-contained HTML page without scripts.
[[nodiscard]] std::string ReportPage(const ReportSubject& subject,
                                     const RunHistory& history,
                                     const ReportState& state);

// Writes MODEL_DIR/report.html: the progress of a training run so far. The
// whole file is written each time, from metrics.jsonl and the run's state.
//
// One thread at a time. Throws IoError.
class Report {
 public:
  Report(const std::string& model_dir, ReportSubject subject);

  // Sets state.files itself.
  void Write(ReportState state);

 private:
  std::string model_dir_;
  ReportSubject subject_;
  RunHistory history_;
};

}  // namespace infeed
