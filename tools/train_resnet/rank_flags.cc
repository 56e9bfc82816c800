#include "tools/train_resnet/rank_flags.h"

#include <optional>

#include <CLI/CLI.hpp>

namespace infeed {
namespace {

constexpr int kMostRanks = 1 << 20;
constexpr int kMostLocalRanks = 1024;
constexpr int kMostSeconds = 1 << 20;
constexpr int kMostPort = 65535;

}  // namespace

void AddRankFlags(CLI::App& app, const RankFlagValues& values) {
  constexpr const char* kGroup = "Ranks";
  const auto add = [&](const char* name, std::optional<int>& value, int least,
                       int most, const char* help) {
    app.add_option(name, value, help)
        ->check(CLI::Range(least, most).description(""))
        ->type_name("N")
        ->group(kGroup);
  };
  app.add_option("--local_ranks", values.local_ranks,
                 "Processes to start on this machine that train together, one "
                 "per device.")
      ->check(CLI::Range(1, kMostLocalRanks).description(""))
      ->type_name("N")
      ->capture_default_str()
      ->group(kGroup);
  RankFlags& rank = values.rank;
  add("--rank", rank.rank, 0, kMostRanks, "Number of this process, from 0.");
  add("--world_size", rank.world_size, 1, kMostRanks,
      "Processes that train together.");
  add("--local_rank", rank.local_rank, 0, kMostRanks,
      "Number of this process on its machine, from 0.");
  add("--local_world_size", rank.local_world_size, 1, kMostRanks,
      "Processes on this machine.");
  app.add_option("--master_addr", rank.master_addr,
                 "Machine of rank 0. [127.0.0.1]")
      ->type_name("HOST")
      ->group(kGroup);
  add("--master_port", rank.master_port, 1, kMostPort,
      "Port of rank 0 where the ranks meet. [29500]");
  app.add_option_function<int>(
         "--rank_timeout",
         [&timeout = values.timeout](int seconds) {
           timeout = std::chrono::seconds(seconds);
         },
         "Silence after which a rank counts as gone. [300]")
      ->check(CLI::Range(1, kMostSeconds).description(""))
      ->type_name("SECONDS")
      ->group(kGroup);
}

}  // namespace infeed
