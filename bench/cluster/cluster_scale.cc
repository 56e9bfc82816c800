#include <algorithm>
#include <iostream>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "bench/cluster/cost.h"
#include "bench/cluster/tables.h"
#include "tools/cli/flags.h"

namespace infeed {
namespace {

struct Flags {
  ClusterSpec spec;
  std::vector<int> machines = {1, 10, 100, 1000};
};

void AddFlags(CLI::App& app, Flags& flags) {
  ClusterSpec& spec = flags.spec;
  const auto add = [&](const char* name, auto& value, const char* help) {
    app.add_option(name, value, help)
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
  };
  app.add_option("--machines", flags.machines, "a column for each")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  add("--records", spec.records, "images of the data set");
  add("--record_bytes", spec.record_bytes, "bytes of one, on average");
  add("--shards", spec.shards, "of the data set");
  add("--evaluated", spec.evaluated, "images of an evaluation");
  add("--devices", spec.devices, "of a machine, each a rank");
  add("--device_rate", spec.device_rate, "images/s of a device");
  add("--largest_part", spec.largest_part, "images that a device takes");
  add("--largest_batch", spec.largest_batch, "images that still train well");
  add("--core_rate", spec.core_rate, "images/s that a core decodes");
  add("--link_rate", spec.link_rate, "bytes/s of a machine's network");
  add("--answer_seconds", spec.answer_seconds, "until a store's answer begins");
  add("--page_cache_bytes", spec.page_cache_bytes, "of a machine's memory");
  add("--epochs", spec.epochs, "of the training");
  add("--resnet_depth", spec.model.depth, "layers of the network");
  add("--num_label_classes", spec.model.num_classes, "it tells apart");
}

void CheckSteps(const Flags& flags) {
  for (const int machines : flags.machines) {
    if (ComputeTrainingCost(flags.spec, machines).steps == 0) {
      throw UsageError("--records: " + std::to_string(machines) +
                       " machines have no batch in an epoch: lower "
                       "--largest_batch, or --machines");
    }
  }
}

ExitCode ShowScale(int argc, char** argv) {
  CLI::App app(
      "Prints the tables of docs/internals/scale.md: what each machine of a "
      "training run reads, caches, keeps in memory and sends.");
  Flags flags;
  AddFlags(app, flags);
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  CheckSteps(flags);
  std::cout << ClusterTables(flags.spec, flags.machines);
  return ExitCode::kDone;
}

}  // namespace
}  // namespace infeed

int main(int argc, char** argv) {
  return infeed::RunMain(argc, argv, infeed::ShowScale);
}
