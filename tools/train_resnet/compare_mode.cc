#include "tools/train_resnet/compare_mode.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/charts/progress.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/files/open_source.h"
#include "tools/cli/help_text.h"
#include "tools/cli/report_table.h"
#include "tools/train_resnet/comparison_report.h"
#include "trainer/replay/run_comparison.h"

namespace infeed {

void AddCompareFlags(CLI::App& app, CompareFlags& flags) {
  const FlagGroup group(app, "Compare", Shown::kInHelpAll);
  app.add_option("--with", flags.with,
                 "The model_dir of another run whose input to compare with "
                 "that of model_dir's, with --mode compare.")
      ->type_name("DIR");
  app.add_option("--data_dir_b", flags.data_dir_b,
                 "The data of that run, if it is elsewhere. [data_dir, or "
                 "where the run had it]")
      ->type_name("DIR");
}

void CheckCompareFlags(const CompareFlags& flags, const RunOptions& run) {
  if (run.mode != Mode::kCompare) {
    return;
  }
  if (flags.with.empty()) {
    throw UsageError("--with: mode compare needs the model_dir of another run");
  }
  for (const std::string* const folder : {&run.model_dir, &flags.with}) {
    if (IsUrl(*folder)) {
      throw UsageError(fmt::format(
          "{}: mode compare reads folders on this disk: copy the run's there",
          WithoutUrlSecrets(*folder)));
    }
  }
}

ProgramEnd CompareWith(const CompareFlags& flags, const RunOptions& run,
                       bool json) {
  if (!run.place.is_first()) {
    return ExitCode::kDone;
  }
  ProgressLine progress;
  progress.Delay();
  const RunComparison comparison = CompareRuns(
      {.model_dir_a = run.model_dir,
       .model_dir_b = flags.with,
       .data_dir_a = run.data_dir,
       .data_dir_b = flags.data_dir_b.empty() ? run.data_dir : flags.data_dir_b,
       .on_step = [&](std::int64_t step) {
         progress.Update(fmt::format("step {} has the same samples", step));
       }});
  progress.Finish();
  const ReportTable report = ComparisonReport(comparison);
  fmt::print("{}", json ? RenderJson(report) : RenderText(report));
  return comparison.match.is_equal()
             ? ProgramEnd(ExitCode::kDone)
             : ProgramEnd(ExitCode::kDataError, "the runs' inputs differ");
}

}  // namespace infeed
