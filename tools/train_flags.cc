#include "tools/train_flags.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "tools/flags.h"
#include "tools/help_text.h"
#include "tools/rank_flags.h"
#include "tools/reference_flags.h"
#include "trainer/model_dir.h"
#include "trainer/nearest_name.h"
#include "trainer/param_help.h"
#include "trainer/param_table.h"
#include "trainer/param_yaml.h"
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
    "A parameter is a flag, a name for --params_override, and one in a\n"
    "--config_file; --help_all says what each of them does.\n"
    "\n"
    "Examples:\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --mode train \\\n"
    "    --params_override=resnet_depth=18,image_size=64,train_epochs=10\n"
    "  train_resnet --data_dir MNIST --model_dir MODEL --preset x10_lenet\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --dry_run\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --local_ranks 4\n"
    "  train_resnet --data_dir SHARDS --model_dir MODEL --mode eval\n"
    "  train_resnet --model_dir MODEL --mode predict --input PHOTOS\n"
    "  train_resnet --model_dir MODEL --mode export --format onnx \\\n"
    "    --export_dir EXPORT\n"
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

// What the completion offers; "" for any value.
std::string TypeNameOf(const Param& param) {
  if (std::holds_alternative<bool TrainParams::*>(param.field)) {
    return "true|false";
  }
  if (param.name == "resnet_checkpoint" || param.name == "bad_record_report") {
    return "PATH";
  }
  return std::string(param.range.choices);
}

void AddParameterFlag(CLI::App& app, ParamLayers& layers, const Param& param,
                      const std::string& group) {
  const std::string name(param.name);
  CLI::Option* const option =
      app.add_option_function<std::string>(
             "--" + name,
             [&layers, name](const std::string& text) {
               layers.flags.emplace_back(name, text);
             },
             fmt::format("{} [{}]", param.help, DefaultText(param)))
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
          ->type_name(TypeNameOf(param))
          ->group(group);
  if (std::holds_alternative<bool TrainParams::*>(param.field)) {
    AddTruthFlags(app, *option, layers, name);
  }
}

// Each is also a name for --params_override.
void AddParameterFlags(CLI::App& app, ParamLayers& layers) {
  for (const ParamGroup& group : ParamGroups()) {
    for (const Param& param : group.params) {
      AddParameterFlag(
          app, layers, param,
          std::string(HelpText::kShortGroup) + std::string(group.title));
    }
  }
}

void AddRunFlags(CLI::App& app, RunOptions& run) {
  app.add_option("--data_dir", run.data_dir,
                 "folder or URL (s3, gs) of train-* and validation-* (or "
                 "test-*) shards, or null: made-up images")
      ->type_name("DIR");
  app.add_option("--model_dir", run.model_dir,
                 "folder or URL (s3, gs) for checkpoints, logs and events; "
                 "made if missing")
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--mode",
         [&run](const std::string& name) { run.mode = ParseMode(name); },
         "what to do [train_and_eval]")
      ->type_name(std::string(kModes));
  app.add_option("--device", run.device, "auto, cpu, cuda or cuda:N")
      ->type_name("auto|cpu|cuda")
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
                 "never, a step, or a checkpoint's path or URL")
      ->capture_default_str()
      ->group(kGroup);
  app.add_flag("--force", run.force,
               "go on from a checkpoint of another data set or configuration")
      ->group(kGroup);
  app.add_option("--eval_timeout", run.eval_timeout,
                 "mode eval: follow new checkpoints until none has come for "
                 "so many seconds")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("SECONDS")
      ->group(kGroup);
}

void AddPredictFlags(CLI::App& app, RunOptions& run) {
  constexpr const char* kGroup = "Prediction";
  app.add_option("--input", run.inputs,
                 "images, folders of images, shards, or URLs; else the data's")
      ->type_name("PATH")
      ->group(kGroup);
  app.add_option("--predict_batch_size", run.predict_batch_size,
                 "images at once [as in the evaluation]")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--num_test_images", run.num_test_images,
                 "how many are predicted [all]")
      ->check(
          CLI::Range(std::int64_t{1}, std::int64_t{1} << 32).description(""))
      ->type_name("N")
      ->group(kGroup);
  app.add_option("--predictions_page", run.predictions_page,
                 "an HTML page of images with what was said of them")
      ->type_name("FILE")
      ->group(kGroup);
}

void AddExportFlags(CLI::App& app, RunOptions& run) {
  constexpr const char* kGroup = "Export";
  app.add_option("--export_dir", run.export_dir,
                 "folder or URL for the exported model; a training that has "
                 "one exports at its end")
      ->type_name("DIR")
      ->group(kGroup);
  app.add_option("--format", run.formats, "as what; one or more")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(
          CLI::IsMember({"onnx", "safetensors", "torchscript"}).description(""))
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
  AddRankFlags(app, {.rank = flags.rank,
                     .local_ranks = flags.local_ranks,
                     .timeout = flags.run.rank_timeout});
  AddPredictFlags(app, flags.run);
  AddExportFlags(app, flags.run);
  app.add_flag("--json", flags.run.json, "mode doctor: print JSON");
  AddCloudFlags(app, flags.cloud);
  AddStorageFlags(app, flags.storage);
  AddObservationFlags(app, flags.observation);
  AddParameterFlags(app, flags.layers);
  AddReferenceFlags(app, flags.layers);
}

// Throws UsageError for what is no flag.
void RefuseExtras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) {
    return;
  }
  const std::string& extra = extras.front();
  if (!extra.starts_with("--")) {
    throw UsageError(fmt::format(
        "'{}': not a flag, and no flag takes it (see --help)", extra));
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& more = option->get_lnames();
    names.insert(names.end(), more.begin(), more.end());
  }
  const std::string name = extra.substr(2, extra.find('=') - 2);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view nearest = NearestName(name, known);
  throw UsageError(fmt::format(
      "unknown flag '--{}'{}", name,
      nearest.empty() ? " (see --help)"
                      : fmt::format(": did you mean '--{}'?", nearest)));
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
  if (UsesTrainedModel(flags.run.mode) && HasParamFile(path)) {
    flags.layers.model_file = path;
  }
}

}  // namespace

std::optional<TrainFlags> ReadTrainFlags(int argc, char** argv) {
  TrainFlags flags;
  CLI::App app(kAbout);
  app.footer(kExamples);
  app.formatter(std::make_shared<HelpText>());
  app.set_help_all_flag("--help_all",
                        "the same, with each parameter explained");
  app.allow_extras();
  AddFlags(app, flags);
  if (!ParseFlags(app, argc, argv)) {
    return std::nullopt;
  }
  RefuseExtras(app);
  CheckFolders(flags);
  TakeParametersOfModel(flags);
  return flags;
}

}  // namespace infeed
