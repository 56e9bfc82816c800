#include "tools/train_flags.h"

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "tools/flags.h"
#include "tools/reference_flags.h"
#include "trainer/model_dir.h"
#include "trainer/param_help.h"
#include "trainer/param_table.h"
#include "trainer/presets.h"

namespace infeed {
namespace {

constexpr const char* kAbout =
    "Trains and evaluates a ResNet from TFRecord shards of images.\n"
    "\n"
    "Run the same command again to go on from the newest checkpoint in\n"
    "model_dir. SIGINT, SIGTERM and SIGUSR1 end the run after the step at\n"
    "hand, with a checkpoint.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --mode train \\\n"
    "    --params_override=resnet_depth=18,image_size=64,train_epochs=10\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --mode eval\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --dry_run\n"
    "\n"
    "Exit codes: 0 done, 1 runtime error, 2 usage, 3 bad data, 4 no usable\n"
    "checkpoint, 5 the loss is not finite, 75 stopped by a signal with a\n"
    "checkpoint written: run again to go on.\n";

// "--pre_activation" alone is true; "--nopre_activation" is false, as with the
// reference's flags.
void AddTruthFlags(CLI::App& app, CLI::Option& option, ParamLayers& layers,
                   const std::string& name) {
  option.expected(0, 1)->default_str("true");
  app.add_flag_callback(
         "--no" + name,
         [&layers, name] { layers.flags.emplace_back(name, "false"); })
      ->group("");
}

void AddParameterFlags(CLI::App& app, ParamLayers& layers) {
  for (const Param& param : ParamTable()) {
    const std::string name(param.name);
    CLI::Option* const option =
        app.add_option_function<std::string>(
               "--" + name,
               [&layers, name](const std::string& text) {
                 layers.flags.emplace_back(name, text);
               },
               fmt::format("{} [{}]", param.help, DefaultText(param)))
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
            ->type_name("")
            ->group("Parameters (each is also a name for --params_override)");
    if (std::holds_alternative<bool TrainParams::*>(param.field)) {
      AddTruthFlags(app, *option, layers, name);
    }
  }
}

void AddRunFlags(CLI::App& app, RunOptions& run) {
  app.add_option("--data_dir", run.data_dir,
                 "folder of train-* and validation-* (or test-*) shards, the "
                 "URL of one (s3, gs), or null: made-up images")
      ->type_name("DIR");
  app.add_option("--model_dir", run.model_dir,
                 "folder for checkpoints, logs and events; made if missing")
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--mode",
         [&run](const std::string& name) { run.mode = ParseMode(name); },
         "what to do [train_and_eval]")
      ->type_name(std::string(kModes));
  app.add_option("--device", run.device, "auto, cpu or cuda[:N]")
      ->capture_default_str();
  app.add_flag("--dry_run", run.dry_run,
               "check everything, say what would run, and end");
}

void AddConfigurationFlags(CLI::App& app, TrainFlags& flags) {
  constexpr const char* kGroup = "Configuration";
  app.add_option("--preset", flags.layers.preset, "named parameters")
      ->type_name(std::string(PresetNames()))
      ->group(kGroup);
  app.add_option("--config_file", flags.layers.config_file,
                 "YAML file of parameters")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--params_override,--param_overrides", flags.layers.overrides,
                 "name=value,name=value; again and again as needed; or YAML")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_flag("--print_config", flags.print_config,
               "print the parameters as YAML on stdout, and end")
      ->group(kGroup);
}

void AddResumeFlags(CLI::App& app, RunOptions& run) {
  constexpr const char* kGroup = "Checkpoints";
  app.add_option("--resume", run.resume,
                 "what to go on from: auto (the newest whole checkpoint), "
                 "never, a step, or a checkpoint's path")
      ->capture_default_str()
      ->group(kGroup);
  app.add_flag("--force", run.force,
               "go on from a checkpoint of another data set or configuration")
      ->group(kGroup);
  app.add_option("--eval_timeout", run.eval_timeout,
                 "mode eval: follow new checkpoints until none has come for "
                 "so many seconds")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS")
      ->group(kGroup);
}

void AddPredictFlags(CLI::App& app, RunOptions& run) {
  constexpr const char* kGroup = "Prediction";
  app.add_option("--input", run.inputs,
                 "images, folders of images, or shards; else the data's images")
      ->type_name("PATH")
      ->group(kGroup);
  app.add_option("--predict_batch_size", run.predict_batch_size,
                 "images at once [as in the evaluation]")
      ->check(CLI::Range(1, 1 << 20))
      ->group(kGroup);
  app.add_option("--num_test_images", run.num_test_images,
                 "how many are predicted [all]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32))
      ->group(kGroup);
}

void AddExportFlags(CLI::App& app, RunOptions& run) {
  constexpr const char* kGroup = "Export";
  app.add_option("--export_dir", run.export_dir,
                 "folder for the exported model; a training that has one "
                 "exports at its end")
      ->type_name("DIR")
      ->group(kGroup);
  app.add_option("--format", run.formats, "as what; one or more")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"onnx", "safetensors", "torchscript"}))
      ->type_name("onnx|safetensors|torchscript")
      ->group(kGroup);
  app.add_option("--export_batch_size", run.export_batch_size,
                 "images at once that the ONNX file takes [any number]")
      ->check(CLI::Range(1, 1 << 20))
      ->group(kGroup);
}

void AddFlags(CLI::App& app, TrainFlags& flags) {
  AddRunFlags(app, flags.run);
  AddConfigurationFlags(app, flags);
  AddResumeFlags(app, flags.run);
  AddPredictFlags(app, flags.run);
  AddExportFlags(app, flags.run);
  app.add_flag("--json", flags.run.json, "mode doctor: print JSON");
  AddCloudFlags(app, flags.cloud);
  AddObservationFlags(app, flags.observation);
  AddParameterFlags(app, flags.layers);
  AddReferenceFlags(app, flags.layers);
}

// A mode's folders are there; parameters can be printed without any.
void CheckFolders(const TrainFlags& flags) {
  const RunOptions& run = flags.run;
  if (flags.print_config || run.mode == Mode::kDoctor) {
    return;
  }
  if (run.model_dir.empty()) {
    throw UsageError("--model_dir: this mode needs it (see --help)");
  }
  const bool can_do_without =
      run.mode == Mode::kExport ||
      (run.mode == Mode::kPredict && !run.inputs.empty());
  if (run.data_dir.empty() && !can_do_without) {
    throw UsageError("--data_dir: this mode needs it (see --help)");
  }
  if (run.mode == Mode::kExport && run.export_dir.empty()) {
    throw UsageError("--export_dir: mode export needs it");
  }
}

// A trained model has its own parameters unless told otherwise.
void TakeParametersOfModel(TrainFlags& flags) {
  const std::string path = ParamsPath(flags.run.model_dir);
  if (UsesTrainedModel(flags.run.mode) && std::filesystem::exists(path)) {
    flags.layers.model_file = path;
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
  CheckFolders(flags);
  TakeParametersOfModel(flags);
  return flags;
}

}  // namespace infeed
