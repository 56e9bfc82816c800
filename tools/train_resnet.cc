#include <cstdio>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "tools/cloud_flags.h"
#include "tools/flags.h"
#include "tools/observation.h"
#include "tools/signals.h"
#include "trainer/model_dir.h"
#include "trainer/param_help.h"
#include "trainer/param_table.h"
#include "trainer/params.h"
#include "trainer/run.h"

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

struct Flags {
  RunOptions run;
  std::string mode = "train_and_eval";
  bool print_config = false;
  ParamLayers layers;
  CloudFlags cloud;
  ObservationFlags observation;
};

void AddParameterFlags(CLI::App& app, Flags& flags) {
  for (const Param& param : ParamTable()) {
    const std::string name(param.name);
    app.add_option_function<std::string>(
           "--" + name,
           [&flags, name](const std::string& text) {
             flags.layers.flags.emplace_back(name, text);
           },
           fmt::format("{} [{}]", param.help, DefaultText(param)))
        ->type_name("")
        ->group("Parameters (each is also a name for --params_override)");
  }
}

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--data_dir", flags.run.data_dir,
                 "folder of train-* and validation-* (or test-*) shards, or "
                 "the URL of one (s3, gs); null: fake data, to measure the "
                 "device alone")
      ->required();
  app.add_option("--model_dir", flags.run.model_dir,
                 "folder for checkpoints, logs and events; made if missing")
      ->required();
  app.add_option("--mode", flags.mode, "train, eval or train_and_eval")
      ->capture_default_str();
  app.add_option("--device", flags.run.device, "auto, cpu or cuda[:N]")
      ->capture_default_str();
  app.add_option("--config_file", flags.layers.config_file,
                 "YAML file of parameters");
  app.add_option("--params_override,--param_overrides", flags.layers.overrides,
                 "name=value,name=value; again and again as needed; or YAML")
      ->allow_extra_args(false);
  app.add_flag("--force", flags.run.force,
               "go on from a checkpoint of another data set or configuration");
  app.add_flag("--dry_run", flags.run.dry_run,
               "check everything, say what would run, and end");
  app.add_flag("--print_config", flags.print_config,
               "print the parameters as YAML on stdout, and end");
  AddCloudFlags(app, flags.cloud);
  AddObservationFlags(app, flags.observation);
  AddParameterFlags(app, flags);
}

// An evaluation has the model's own parameters unless told otherwise.
void TakeConfigurationOfModel(Flags& flags) {
  const std::string path = ParamsPath(flags.run.model_dir);
  if (flags.run.mode == Mode::kEval && flags.layers.config_file.empty() &&
      std::filesystem::exists(path)) {
    flags.layers.config_file = path;
  }
}

ExitCode Main(int argc, char** argv) {
  // First, so that every thread leaves the signals to its own.
  const SignalStop signals;
  Flags flags;
  CLI::App app(kAbout);
  app.footer(kExamples);
  AddFlags(app, flags);
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  flags.run.mode = ParseMode(flags.mode);
  TakeConfigurationOfModel(flags);
  flags.run.params = ReadParams(flags.layers);
  if (flags.print_config) {
    fmt::print("{}", ToYaml(flags.run.params));
    return ExitCode::kDone;
  }
  ApplyCloudFlags(flags.cloud);
  Observation observation(flags.observation, {{"run", flags.run.model_dir}});
  flags.run.live_stats = observation.live();
  flags.run.trace = observation.trace();
  const ExitCode code = Run(flags.run, signals.token());
  observation.Finish();
  return code;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::Main);
}
