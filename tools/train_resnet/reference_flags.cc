#include "tools/train_resnet/reference_flags.h"

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "trainer/params/table.h"
#include "trainer/params/unsupported.h"

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
    "bigtable_project",
    "bigtable_instance",
    "bigtable_table",
    "bigtable_train_prefix",
    "bigtable_eval_prefix",
    "bigtable_column_family",
    "bigtable_column_qualifier",
};

// Adds a flag that --help does not show, with or without a value.
void AddHidden(CLI::App& app, const std::string& name,
               std::function<void(const std::string&)> take) {
  app.add_option_function<std::string>("--" + name, std::move(take))
      ->expected(0, 1)
      ->default_str("true")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group("");
}

}  // namespace

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

}  // namespace infeed
