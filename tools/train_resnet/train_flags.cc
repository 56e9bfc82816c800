#include "tools/train_resnet/train_flags.h"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "pipeline/options/option_text.h"
#include "records/bytes/whole_number.h"
#include "records/files/open_source.h"
#include "tools/cli/flags.h"
#include "tools/cli/help_text.h"
#include "tools/input/input_flags.h"
#include "tools/train_resnet/mode_flags.h"
#include "trainer/checkpoint/resume.h"
#include "trainer/params/presets.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

struct ReferenceFlag {
  const char* name;
  const char* why;
};

constexpr const char* kNoTpu =
    "there is no TPU here: --device chooses the device";
constexpr const char* kNoServing =
    "there is no serving here: --export_dir writes models that other systems "
    "load";

constexpr ReferenceFlag kNoEffect[] = {
    {"tpu", kNoTpu},
    {"gcp_project", kNoTpu},
    {"tpu_zone", kNoTpu},
    {"eval_master", kNoTpu},
    {"export_to_tpu", kNoServing},
    {"add_warmup_requests", kNoServing},
    {"model_name", kNoServing},
    {"inference_batch_sizes", kNoServing},
    {"eval_after_training", "the reference does not use it either"},
};

constexpr const char* kBigtable[] = {
    "bigtable_project",         "bigtable_instance",
    "bigtable_table",           "bigtable_train_prefix",
    "bigtable_eval_prefix",     "bigtable_column_family",
    "bigtable_column_qualifier"};

// Adds a flag that --help does not show, with or without a value.
void AddHidden(CLI::App& app, const std::string& name,
               std::function<void(const std::string&)> take) {
  app.add_option_function<std::string>("--" + name, std::move(take))
      ->expected(0, 1)
      ->default_str("true")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group("");
}

// Accepts flags of the reference driver (tensorflow/tpu's ResNet) that have no
// meaning here, so that its command lines run unchanged: flags about TPUs and
// serving with a line on stderr, flags about Bigtable never; the reference's
// parameters without a meaning here go to `layers`, as flags.
void AddReferenceFlags(CLI::App& app, ParamLayers& layers) {
  for (const ReferenceFlag& flag : kNoEffect) {
    AddHidden(app, flag.name, [&flag](const std::string&) {
      fmt::print(stderr, "--{} has no effect: {}\n", flag.name, flag.why);
    });
  }
  for (const char* name : kBigtable) {
    AddHidden(app, name, [name](const std::string&) {
      throw UsageError(
          fmt::format("--{}: records are read from files and object stores, "
                      "not from Bigtable; give --data_dir",
                      name));
    });
  }
  for (const UnsupportedParam& param : UnsupportedParams()) {
    const std::string name(param.name);
    AddHidden(app, name, [&layers, name](const std::string& text) {
      layers.flags.emplace_back(name, text);
    });
  }
}

constexpr const char* kAbout =
    "Trains a ResNet on a data set of images, evaluates it, predicts with it, "
    "exports it and shows what it was trained on. The same command again "
    "resumes from the newest checkpoint "
    "in model_dir. SIGINT, SIGTERM and SIGUSR1 stop the run after the current "
    "step and save a checkpoint.";

constexpr const char* kExamples =
    "Examples:\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --resnet_depth 18 \\\n"
    "    --image_size 128 --train_epochs 10\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --preset finetune \\\n"
    "    --resnet_depth 18 --resnet_checkpoint resnet18\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --dry_run\n"
    "  train_resnet --model_dir MODEL --mode predict --input PHOTOS\n"
    "  train_resnet --model_dir MODEL --mode export --export_dir EXPORT\n"
    "  train_resnet --model_dir MODEL --mode replay --step 42 --losses\n"
    "\n"
    "A parameter can be given as a flag, in --params_override or in a "
    "--config_file.\n"
    "\n"
    "Exit codes: 0 done, 1 runtime error, 2 usage, 3 bad data, 4 no usable "
    "checkpoint, 5 the loss is not finite, 75 stopped by a signal after "
    "saving a checkpoint: run again to resume.\n";

constexpr int kMostRanks = 1 << 20;
constexpr int kMostLocalRanks = 1024;
constexpr int kMostSeconds = 1 << 20;
constexpr int kMostPort = 65535;

bool IsTruth(const Param& param) {
  return std::holds_alternative<bool*>(param.AtConst(DefaultParams()));
}

void AddParameterFlag(CLI::App& app, ParamLayers& layers, const Param& param,
                      const std::string& group) {
  const std::string name(param.name);
  CLI::Option* const option =
      app.add_option_function<std::string>(
             name == "resnet_depth"
                 ? fmt::format("--{},--{}", name, kOldDepthName)
                 : "--" + name,
             [&layers, name](const std::string& text) {
               layers.flags.emplace_back(name, text);
             },
             fmt::format("{} [{}]", param.help, DefaultText(param)))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
          ->group(group);
  const std::string type = FlagTypeName(param, param.AtConst(DefaultParams()));
  MarkShown(param, option);
  if (IsTruth(param)) {  // The text hides the value of the flag alone.
    option->expected(0, 1)->default_str("true")->option_text(type);
  } else {
    option->type_name(type);
  }
}

// Adds a flag for each parameter; its name also works in --params_override.
void AddParameterFlags(CLI::App& app, ParamLayers& layers) {
  for (const ParamGroup& group : ParamGroups()) {
    for (const Param& param : group.params) {
      AddParameterFlag(app, layers, param,
                       fmt::format("{} {}", group.title, kParameterGroup));
    }
  }
}

void AddRunFlags(CLI::App& app, TrainFlags& flags) {
  RunOptions& run = flags.run;
  const FlagGroup group(app, "Run");
  app.add_option_function<std::string>(
         "--data_dir",
         [&run](const std::string& folder) {
           run.data_dir = folder.empty() ? "null" : folder;
         },
         "The data set: a folder or URL (s3, gs) of shards, or images in "
         "class folders, tars or a zip; null or empty: made-up images.")
      ->type_name("DIR");
  app.add_option("--model_dir", run.model_dir,
                 "Folder or URL (s3, gs) for checkpoints, logs and events; "
                 "created if missing.")
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--mode",
         [&run](const std::string& name) { run.mode = ParseMode(name); },
         "Work to do. [train_and_eval]")
      ->type_name(std::string(kModes));
  app.add_option("--device", run.device,
                 "Device to run on: auto, cpu, cuda or cuda:N.")
      ->type_name("auto|cpu|cuda")
      ->capture_default_str();
  app.add_flag("--dry_run", run.dry_run,
               "Check everything, print what would run, and exit.");
  Rare(app.add_flag("--json", flags.json,
                    "Print JSON in modes compare and doctor."));
}

void AddConfigurationFlags(CLI::App& app, TrainFlags& flags) {
  const FlagGroup group(app, "Configuration");
  app.add_option("--preset", flags.layers.preset, "Named set of parameters.")
      ->type_name(std::string(PresetNames()));
  app.add_option("--config_file", flags.layers.config_file,
                 "YAML file of parameters.")
      ->type_name("FILE");
  app.add_option(
         "--params_override,--param_overrides", flags.layers.overrides,
         "Parameters as name=value,name=value or YAML; may be repeated.")
      ->type_name("NAME=VALUE,...")
      ->allow_extra_args(false);
  app.add_flag("--print_config", flags.print_config,
               "Print the parameters as YAML on stdout, and exit.");
}

void AddCheckpointFlags(CLI::App& app, TrainFlags& flags) {
  const FlagGroup group(app, "Checkpoints");
  app.add_option("--resume", flags.run.resume,
                 "Checkpoint to resume from: auto (the newest complete one), "
                 "best, never, a step, a path or URL.")
      ->capture_default_str();
  Rare(app.add_option("--checkpoint", flags.checkpoint,
                      "Checkpoint to eval, predict or export. [newest]"))
      ->type_name("best|newest|STEP");
  Rare(app.add_flag(
      "--force", flags.run.force,
      "Resume from a checkpoint of another data set or configuration, delete "
      "those of later steps than --resume, and drop checkpoints that were not "
      "uploaded to a changed store."));
  Rare(app.add_option("--eval_timeout", flags.run.eval_timeout,
                      "Longest wait for each new checkpoint in mode eval."))
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("SECONDS");
}

void AddRankFlags(CLI::App& app, TrainFlags& flags) {
  const FlagGroup group(app, "Ranks");
  const auto add = [&](const char* name, std::optional<int>& value, int least,
                       int most, const char* help) {
    Rare(app.add_option(name, value, help))
        ->check(CLI::Range(least, most).description(""))
        ->type_name("N");
  };
  app.add_option("--local_ranks", flags.local_ranks,
                 "Processes to start on this machine that train together, one "
                 "per device.")
      ->check(CLI::Range(1, kMostLocalRanks).description(""))
      ->type_name("N")
      ->capture_default_str();
  RankFlags& rank = flags.rank;
  add("--rank", rank.rank, 0, kMostRanks,
      "Number of this process, from 0; in mode replay the rank whose images "
      "to show. [all]");
  add("--world_size", rank.world_size, 1, kMostRanks,
      "Processes that train together.");
  add("--local_rank", rank.local_rank, 0, kMostRanks,
      "Number of this process on its machine, from 0.");
  add("--local_world_size", rank.local_world_size, 1, kMostRanks,
      "Processes on this machine.");
  Rare(app.add_option("--master_addr", rank.master_addr,
                      "Machine of rank 0. [127.0.0.1]"))
      ->type_name("HOST");
  add("--master_port", rank.master_port, 1, kMostPort,
      "Port of rank 0 where the ranks meet. [29500]");
  Rare(app.add_option_function<int>(
           "--rank_timeout",
           [&flags](int seconds) {
             flags.run.rank_timeout = std::chrono::seconds(seconds);
           },
           "Silence after which a rank counts as lost. [300]"))
      ->check(CLI::Range(1, kMostSeconds).description(""))
      ->type_name("SECONDS");
}

void AddStorageFlags(CLI::App& app, StorageFlags& flags) {
  const FlagGroup group(app, "Cloud", Shown::kInHelpAll);
  app.add_option("--local_scratch_dir", flags.local_scratch_dir,
                 "Folder for copies of URLs. [~/.cache/infeed/runs]")
      ->type_name("DIR");
  app.add_option_function<int>(
         "--upload_timeout",
         [&flags](int seconds) {
           flags.upload_timeout = std::chrono::seconds(seconds);
         },
         "Wait for uploads at the end of the run. [300]")
      ->check(CLI::Range(0, kMostSeconds).description(""))
      ->type_name("SECONDS");
}

void AddWorkerFlags(CLI::App& app, TlsFiles& files) {
  const FlagGroup group(app, "Input workers", Shown::kInHelpAll);
  AddWorkerTlsFlags(app, "worker_", files);
}

void AddPredictFlags(CLI::App& app, RunOptions& run) {
  const FlagGroup group(app, "Prediction");
  app.add_option("--input", run.inputs,
                 "Images, folders of images, shards, or URLs to predict; else "
                 "those of data_dir.")
      ->type_name("PATH");
  Rare(app.add_option("--predict_batch_size", run.predict_batch_size,
                      "Images of a prediction batch. [as in evaluation]"))
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N");
  Rare(app.add_option("--num_test_images", run.num_test_images,
                      "Images to predict, the first ones of the input. [all]"))
      ->check(
          CLI::Range(std::int64_t{1}, std::int64_t{1} << 32).description(""))
      ->type_name("N");
  app.add_option("--predictions_page", run.predictions_page,
                 "HTML page to write, with images and predictions.")
      ->type_name("FILE");
}

void AddExportFlags(CLI::App& app, RunOptions& run) {
  const FlagGroup group(app, "Export");
  CLI::Option* const folder =
      app.add_option("--export_dir", run.export_dir,
                     "Folder or URL for the exported model; if given, a "
                     "training run exports at its end.")
          ->type_name("DIR");
  app.add_option("--format", run.formats, "Formats to export, one or more.")
      ->delimiter(',')
      ->needs(folder)
      ->check(
          CLI::IsMember({"onnx", "safetensors", "torchscript"}).description(""))
      ->type_name("onnx|safetensors|torchscript");
  Rare(app.add_option("--export_batch_size", run.export_batch_size,
                      "Images of a batch of the ONNX file. [any number]"))
      ->needs(folder)
      ->check(CLI::Range(1, 1 << 20));
  Rare(app.add_option("--average_checkpoints", run.average_checkpoints,
                      "Checkpoints whose mean mode export exports: the chosen "
                      "one and those before it."))
      ->check(CLI::Range(1, 10'000).description(""))
      ->type_name("N")
      ->capture_default_str();
}

std::string WhyNoStep(const std::string& text) {
  return ParseWholeNumber<std::int64_t>(text)
             ? ""
             : text + " is not a step; give steps like 41,42";
}

void AddReplayFlags(CLI::App& app, ReplayOptions& replay) {
  const FlagGroup group(app, "Replay", Shown::kInHelpAll);
  app.add_option("--step", replay.steps,
                 "Steps of the run in model_dir whose batches to show, with "
                 "--mode replay.")
      ->delimiter(',')
      ->check(WhyNoStep, "")
      ->type_name("N[,N...]");
  app.add_option("--out", replay.folder,
                 "Folder on this disk for the pages and lines. "
                 "[MODEL_DIR/replay]")
      ->type_name("DIR");
  app.add_flag("--losses", replay.with_losses,
               "Also each image's loss and prediction, by the network in "
               "evaluation form with the newest checkpoint up to the step, "
               "else the oldest; the worst first.");
}

void AddFlags(CLI::App& app, TrainFlags& flags) {
  AddRunFlags(app, flags);
  AddConfigurationFlags(app, flags);
  AddCheckpointFlags(app, flags);
  AddRankFlags(app, flags);
  AddPredictFlags(app, flags.run);
  AddExportFlags(app, flags.run);
  AddReplayFlags(app, flags.run.replay);
  AddCompareFlags(app, flags.compare);
  AddCloudFlags(app, flags.cloud);
  AddWorkerFlags(app, flags.worker_tls);
  AddStorageFlags(app, flags.storage);
  AddObservationFlags(app, flags.observation);
  AddParameterFlags(app, flags.layers);
  AddReferenceFlags(app, flags.layers);
}

// Sets RunOptions::resume from --checkpoint. Throws UsageError for a mode that
// trains, an invalid value, and other flags that choose a checkpoint.
void TakeCheckpoint(const std::string& asked, RunOptions& run) {
  if (asked.empty()) {
    return;
  }
  if (!UsesTrainedModel(run.mode)) {
    throw UsageError(
        "--checkpoint: is for the modes eval, predict and export; --resume "
        "chooses where a training run starts");
  }
  if (run.resume != "auto" || run.eval_timeout) {
    throw UsageError(fmt::format(
        "--checkpoint={}: {} chooses the checkpoint as well; give one of them",
        asked, run.eval_timeout ? "--eval_timeout" : "--resume"));
  }
  const bool is_step =
      asked.find_first_not_of("0123456789") == std::string::npos;
  if (asked != "best" && asked != "newest" && !is_step) {
    throw UsageError(
        fmt::format("--checkpoint={}: must be best, newest or a step; --resume "
                    "takes a path",
                    asked));
  }
  run.resume = asked == "newest" ? "auto" : asked;
}

void CheckAverage(const RunOptions& run) {
  if (run.average_checkpoints == 1) {
    return;
  }
  if (!IsOfModelDir(run.resume)) {
    throw UsageError(fmt::format(
        "--average_checkpoints={}: needs the checkpoints of model_dir, and "
        "--resume={} is another one",
        run.average_checkpoints, run.resume));
  }
}

// Takes --rank, which in mode replay is not this process's. Throws UsageError
// where the mode lacks its step, and for a URL of its folder.
void TakeReplay(TrainFlags& flags) {
  RunOptions& run = flags.run;
  if (run.mode != Mode::kReplay) {
    return;
  }
  run.replay.rank = std::exchange(flags.rank.rank, std::nullopt);
  if (flags.print_config) {
    return;
  }
  if (run.replay.steps.empty()) {
    throw UsageError("--step: mode replay needs it, as --step 41,42");
  }
  if (IsUrl(run.replay.folder)) {
    throw UsageError(fmt::format("--out={}: must be a folder on this disk",
                                 WithoutUrlSecrets(run.replay.folder)));
  }
}

// Checks that a mode's folders are given; --print_config needs none.
void CheckFolders(const TrainFlags& flags) {
  const RunOptions& run = flags.run;
  if (flags.print_config || run.mode == Mode::kDoctor) {
    return;
  }
  if (run.model_dir.empty()) {
    throw UsageError("--model_dir: this mode needs it (see --help)");
  }
  const bool can_do_without =
      run.mode == Mode::kExport || run.mode == Mode::kReplay ||
      run.mode == Mode::kCompare || run.mode == Mode::kPredict;
  if (run.data_dir.empty() && run.mode == Mode::kPredict &&
      run.inputs.empty()) {
    throw UsageError(
        "--input: mode predict needs it, as --input FOLDER, or a --data_dir");
  }
  if (run.data_dir.empty() && !can_do_without) {
    throw UsageError("--data_dir: this mode needs it (see --help)");
  }
  if (run.mode == Mode::kExport && run.export_dir.empty()) {
    throw UsageError("--export_dir: mode export needs it");
  }
}

}  // namespace

std::optional<TrainFlags> ReadTrainFlags(int argc, char** argv) {
  TrainFlags flags;
  CLI::App app(kAbout);
  app.footer(kExamples);
  AddFlags(app, flags);
  if (!ParseFlags(app, argc, argv)) {
    return std::nullopt;
  }
  CheckFlagsOfMode(app, flags.run.mode);
  CheckFolders(flags);
  TakeReplay(flags);
  CheckCompareFlags(flags.compare, flags.run);
  TakeCheckpoint(flags.checkpoint, flags.run);
  CheckAverage(flags.run);
  return flags;
}

}  // namespace infeed
