#include "bench/engine/pipeline_throughput.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/charts/progress.h"
#include "base/count_text.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/print_lines.h"
#include "base/shown_text.h"
#include "bench/common/made_shards.h"
#include "bench/engine/hashed_stream.h"
#include "bench/engine/report.h"
#include "bench/engine/run.h"
#include "bench/engine/stage_work.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/engine/worker_trial.h"
#include "pipeline/memory/kept_heap.h"
#include "pipeline/memory/memory_limit.h"
#include "pipeline/order/label_class.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/remote/rpc_plugin.h"
#include "pipeline/remote/worker_settings.h"
#include "pipeline/stats/stats.h"
#include "records/files/output_check.h"
#include "records/files/shards.h"
#include "records/files/side_file.h"
#include "records/store/index_data.h"
#include "records/store/record_index.h"
#include "tools/cli/cloud_flags.h"
#include "tools/cli/flags.h"
#include "tools/cli/help_text.h"
#include "tools/cli/number_checks.h"
#include "tools/cli/report_table.h"
#include "tools/input/field_flag.h"
#include "tools/input/input_flags.h"
#include "tools/input/observation.h"

namespace infeed {
namespace {

// In place of a file.
constexpr std::string_view kStdout = "-";

struct Flags {
  std::string data_dir;
  std::string split = "train";
  std::string shards;
  bool allow_missing_shards = false;
  std::int64_t made_images = 0;
  std::string stage = "all";
  std::string json;
  std::string plot;
  HashFlags hash;
  bool dry_run = false;
  SelectionChoice selection;
  std::vector<std::string> views;
  ThroughputOptions throughput;
  CloudFlags cloud;
  TlsFiles worker_tls;
  ObservationFlags observation;
};

constexpr const char* kDescription =
    "Measures how fast the input pipeline makes batches: images per second, "
    "time and waiting of each stage, CPU time, memory, and what limits the "
    "speed. The batches are discarded, so the rate is an upper bound for "
    "training; --device_rate simulates a device that consumes so many images, "
    "and measures how long it waits.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pipeline_throughput --data_dir DIR --threads 1,2 --seconds 5\n"
    "  pipeline_throughput --made 500 --threads 1,2 --plot rates.html\n"
    "  pipeline_throughput --data_dir DIR --stage decode\n"
    "  pipeline_throughput --data_dir DIR --layout none --field "
    "ids=int64[224],pad=0\n"
    "  pipeline_throughput --data_dir DIR --device_rate 3000\n"
    "  pipeline_throughput --data_dir DIR --eval --split validation\n";

void AddDataFlags(CLI::App& app, Flags& flags) {
  const FlagGroup group(app, "Data");
  app.add_option("--data_dir", flags.data_dir,
                 "The data set: a folder of shards, of class folders with "
                 "images, or of tars; a tar, a zip, or a pattern.")
      ->type_name("DATA");
  app.add_option("--split", flags.split,
                 "Split of the data set: train, validation or test; a single "
                 "file is read whatever split its name says.")
      ->capture_default_str();
  AddShardsFlags(app, flags.shards, flags.allow_missing_shards);
  app.add_option("--made", flags.made_images,
                 "Photographs of 500x375 to make in temporary shards, instead "
                 "of a data set.")
      ->check(PositiveNumber())
      ->type_name("N");
}

void AddMeasurementFlags(CLI::App& app, Flags& flags) {
  ThroughputOptions& throughput = flags.throughput;
  const FlagGroup group(app, "Measurement");
  app.add_option("--threads", throughput.threads,
                 "Numbers of threads, with a run for each; 0: one per core.")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seconds", throughput.seconds, "Length of each round.")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--rounds", throughput.rounds,
                 "Rounds of every run, in turns; the median counts.")
      ->check(PositiveNumber())
      ->capture_default_str();
  app.add_option("--stage", flags.stage,
                 "Stages to measure: all of the pipeline, or read, decode or "
                 "resize alone, on records or windows in memory.")
      ->capture_default_str();
  app.add_option(
         "--device_rate", throughput.device_rate,
         "Images/s of a simulated device, whose input wait is reported.")
      ->check(PositiveNumber())
      ->type_name("R");
  app.add_option("--json", flags.json,
                 "File to write the report to, as JSON; -: print JSON, and no "
                 "text.")
      ->type_name("FILE");
  app.add_option("--plot", flags.plot,
                 "File for a plot of the rates and the stages' shares (.svg), "
                 "or a page with the table and the verdict as well (.html).")
      ->type_name("FILE.svg|FILE.html");
  app.add_flag("--dry_run", flags.dry_run,
               "Only check flags, data and workers, and print what would be "
               "measured.");
}

// --hash and --order measure nothing. CLI11's own exclusion would put all of
// these into --help.
void RefuseMeasurement(const CLI::App& app) {
  for (const std::string what : {"--hash", "--order"}) {
    for (const std::string flag : {"--seconds", "--rounds", "--stage",
                                   "--device_rate", "--json", "--plot"}) {
      if (app.count(what) > 0 && app.count(flag) > 0) {
        throw UsageError(flag + " excludes " + what);
      }
    }
  }
}

RecordIndex IndexOf(const Flags& flags) {
  const OnShardSetFaults on_faults = FaultsPolicy(
      flags.allow_missing_shards,
      [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  if (!flags.selection.mix.empty()) {
    return IndexMix(flags.selection, flags.split, on_faults);
  }
  if (!flags.shards.empty()) {
    return IndexData(flags.shards, {.on_faults = on_faults});
  }
  return IndexSplitThatIsThere(flags.data_dir, flags.split,
                               {.on_faults = on_faults});
}

std::string MakeTitle(const Flags& flags, const RecordIndex& index) {
  const InputOptions& input = flags.throughput.input;
  if (input.layout == BatchContent::kNone) {
    return fmt::format("{}, no images, batches of {}",
                       CountText(index.size(), "record"), input.batch_size);
  }
  return fmt::format("{}, recipe {}, {}x{}, batches of {}",
                     CountText(index.size(), "record"),
                     ChoiceName(input.preprocess.recipe, kRecipes),
                     input.preprocess.image_size.height,
                     input.preprocess.image_size.width, input.batch_size);
}

// Resolves label_offset once for all pipelines, and prints the labels.
void ResolveLabels(const RecordIndex& index, InputOptions& input) {
  input = ResolvedOptions(input, index);
  if (ReadsLabels(input)) {
    fmt::print(stderr, "labels from {} (label_offset {})\n",
               *input.label_offset, *input.label_offset);
  }
}

// Returns the function that measures a round.
RoundMaker ChooseRoundMaker(const RecordIndex& index, const Flags& flags) {
  const Stage stage = ParseStage(flags.stage);
  if (stage == Stage::kAll) {
    return [&index](const InputOptions& input, const RoundOptions& round) {
      return MeasurePipeline(index, input, round);
    };
  }
  const StageWork work =
      MakeStageWork(stage, index, CheckedInputOptions(flags.throughput.input));
  return [stage, work](const InputOptions& input, const RoundOptions& round) {
    return MeasureStage(stage, work, CheckedInputOptions(input), round);
  };
}

// Shows a measurement's progress on stderr: a line at each round's end, and the
// progress line during a long round. One thread at a time.
class ProgressLines {
 public:
  explicit ProgressLines(const ThroughputOptions& options)
      : rounds_(options.rounds),
        seconds_(options.seconds),
        items_(ItemsName(options.input.layout != BatchContent::kNone)) {
    line_.Delay();
  }

  void operator()(const RunProgress& progress) {
    if (progress.rate) {
      line_.Update(fmt::format("round {}/{}, {}: {:.1f} {}/s", progress.round,
                               rounds_, CountText(progress.threads, "thread"),
                               *progress.rate, items_),
                   true);
      line_.Finish();
    } else if (line_.IsDue()) {
      line_.Update(fmt::format("round {}/{}: {:.0f} of {:.0f} s",
                               progress.round, rounds_, progress.seconds,
                               seconds_));
    }
  }

 private:
  int rounds_;
  double seconds_;
  std::string_view items_;
  ProgressLine line_;
};

void Measure(const RecordIndex& index, const Flags& flags) {
  const ThroughputOptions& options = flags.throughput;
  const std::vector<ThroughputRun> runs = MeasureThroughput(
      ChooseRoundMaker(index, flags), options, ProgressLines(options));
  const ReportTable report =
      ThroughputReport(runs, options, index.size(), PeakRssBytes());
  fmt::print("{}", flags.json == kStdout ? ShownJson(RenderJson(report))
                                         : RenderText(report));
  if (!flags.json.empty() && flags.json != kStdout) {
    WriteFileAtomically(flags.json, RenderJson(report), kNamedByUser);
  }
  if (!flags.plot.empty()) {
    WriteFileAtomically(
        flags.plot, ThroughputPlot(flags.plot, runs, MakeTitle(flags, index)),
        kNamedByUser);
  }
}

// Checks the options by creating a pipeline, and prints what it would do.
void PrintPlan(const RecordIndex& index, const Flags& flags) {
  const ThroughputOptions& options = flags.throughput;
  fmt::print("{}\n", MakeTitle(flags, index));
  for (const int threads : options.threads) {
    InputOptions input = options.input;
    input.threads = threads;
    const InputPipeline pipeline(index, input);
    fmt::print("{}: {}\n", CountText(pipeline.stats().threads, "thread"),
               MemoryText(pipeline.memory()));
  }
  fmt::print("{} of {:g} s each, {:.0f} s in all\n",
             CountText(options.rounds, "round"), options.seconds,
             options.seconds * options.rounds *
                 static_cast<double>(options.threads.size()));
}

// Has each worker fill some slots. Throws the first one's problem.
void PrintWorkers(const RecordIndex& index, const InputOptions& input) {
  if (input.workers.empty()) {
    return;
  }
  const WorkersTrial trial = TryWorkers(LoadedRpcLibrary(), index, input);
  for (const WorkerTrial& worker : trial.workers) {
    fmt::print("worker {}, {}\n", worker.address, trial.Describe(worker));
  }
  if (const std::string conclusion = trial.Conclusion(); !conclusion.empty()) {
    fmt::print("{}\n", conclusion);
  }
  std::ranges::for_each(trial.workers, RequireUsable);
}

void Run(Flags& flags, const RecordIndex& index) {
  for (const std::string& note : index.notes()) {
    fmt::print(stderr, "{}\n", note);
  }
  if (const std::string note = KeysNote(flags.throughput.input, index);
      !note.empty()) {
    fmt::print(stderr, "{}\n", note);
  }
  flags.throughput.input = WithFoundKeys(flags.throughput.input, index);
  flags.throughput.input.on_note = PrintNote;
  flags.throughput.input.selection = MakeSelection(
      flags.selection, flags.split, index, flags.throughput.input.label_key);
  fmt::print(stderr, "{} in {}\n", CountText(index.size(), "record"),
             CountText(index.shards().size(),
                       index.is_of_images() ? "file" : "shard"));
  if (flags.hash.order == 0 && ParseStage(flags.stage) == Stage::kAll) {
    ResolveLabels(index, flags.throughput.input);
  }
  if (flags.dry_run) {
    PrintPlan(index, flags);
    PrintWorkers(index, flags.throughput.input);
  } else if (flags.hash.batches > 0) {
    PrintHashes(index, flags.throughput.input, flags.throughput.threads,
                flags.hash);
  } else if (flags.hash.order > 0) {
    PrintOrder(index, flags.throughput.input, flags.hash);
  } else {
    Measure(index, flags);
  }
}

void CheckFlags(const Flags& flags) {
  const int sources =
      (flags.data_dir.empty() ? 0 : 1) + (flags.shards.empty() ? 0 : 1) +
      (flags.made_images > 0 ? 1 : 0) + (flags.selection.mix.empty() ? 0 : 1);
  if (sources != 1) {
    throw UsageError("give one of --data_dir, --shards, --mix and --made");
  }
  if (ParseStage(flags.stage) != Stage::kAll &&
      flags.throughput.input.layout == BatchContent::kNone) {
    throw UsageError("a stage alone needs images: leave --layout none out");
  }
  if (ParseStage(flags.stage) != Stage::kAll &&
      flags.throughput.device_rate > 0) {
    throw UsageError("a stage alone has no device: leave --device_rate out");
  }
  if (!flags.plot.empty()) {
    CheckPlotName(flags.plot);
  }
}

// No output is an input, or another output.
void CheckFiles(const Flags& flags, const RecordIndex& index) {
  std::vector<std::string> inputs = {flags.selection.subset,
                                     flags.selection.class_weights,
                                     flags.selection.sample_weights};
  inputs.insert(inputs.end(), index.shards().begin(), index.shards().end());
  const std::vector<NamedOutput> outputs = {
      {.flag = "--json", .path = flags.json, .may_be_stdout = true},
      {"--plot", flags.plot},
      {"--save_state", flags.hash.save_state},
      {"--trace", flags.observation.trace},
      {"--metrics_file", flags.observation.metrics_file},
      {"--bad_record_report", flags.throughput.input.bad_record_report}};
  CheckOutputs(outputs, inputs);
  RequireOutputFolders(outputs);
}

}  // namespace

ProgramEnd PipelineThroughput(int argc, char** argv) {
  Flags flags;
  CLI::App app(kDescription);
  app.footer(kExamples);
  AddDataFlags(app, flags);
  AddMeasurementFlags(app, flags);
  AddStreamFlags(app, flags.throughput.input);
  AddFieldFlag(app, flags.throughput.input.fields);
  AddObjectsFlag(app, flags.throughput.input.objects);
  AddViewFlag(app, flags.views);
  AddSelectionFlags(app, flags.selection);
  AddHashFlags(app, flags.hash);
  AddPerformanceFlags(app, flags.throughput.input);
  {
    const FlagGroup group(app, "Input workers", Shown::kInHelpAll);
    AddWorkerTlsFlags(app, "worker_", flags.worker_tls);
  }
  AddCloudFlags(app, flags.cloud);
  AddObservationFlags(app, flags.observation);
  NameValues(app, {{"--split", "train|validation|test"},
                   {"--stage", "all|read|decode|resize"}});
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  RefuseMeasurement(app);
  AddViews(flags.views, flags.throughput.input);
  CheckFlags(flags);
  if (app.count("--split") == 0 && !flags.data_dir.empty()) {
    flags.split = DefaultSplit(flags.data_dir, flags.split);
  }
  ApplyCloudFlags(flags.cloud);
  SetWorkerTls(flags.worker_tls);
  if (!flags.throughput.input.workers.empty()) {
    KeepMessageMemory();
  }
  std::optional<WithoutSideFiles> nothing_is_written;
  if (flags.dry_run) {
    nothing_is_written.emplace();
    flags.observation = {};
    flags.throughput.input.bad_record_report.clear();
  }
  std::optional<MadeShards> made;
  if (flags.made_images > 0) {
    fmt::print(stderr, "making {}\n",
               CountText(flags.made_images, "photograph"));
    made.emplace(flags.made_images);
  }
  const RecordIndex index =
      made ? RecordIndex(ListShards(made->folder())) : IndexOf(flags);
  CheckFiles(flags, index);
  Observation observation(flags.observation,
                          {{"run", flags.data_dir + flags.shards}});
  flags.throughput.input.trace = observation.trace();
  flags.throughput.live = observation.live();
  Run(flags, index);
  observation.Finish();
  return ExitCode::kDone;
}

}  // namespace infeed
