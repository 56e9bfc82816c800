#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/program_end.h"

// Starts the ranks of one machine: train_resnet --local_ranks N.
namespace infeed {

// The command line of the ranks: without --local_ranks, in any spelling.
[[nodiscard]] std::vector<std::string> RankArguments(int argc, char** argv);

struct RankEnd {
  int rank = 0;
  int code = 0;    // the exit code; 0 when a signal ended it
  int signal = 0;  // 0: none
};

// The launcher's end, given the ranks' ends in their order: 0 if all are done,
// 75 if all stopped with a checkpoint; else the code of the first failed rank,
// or, if that is unspecific (1, or a signal, which counts as 1), the first
// specific code.
[[nodiscard]] ProgramEnd LauncherEnd(const std::vector<RankEnd>& ends);

// Starts this program once for each rank, with the arguments and with RANK,
// WORLD_SIZE, a new token and so on in the environment; the ranks connect
// through a port of 127.0.0.1. Passes SIGINT, SIGTERM and SIGUSR1 on to the
// ranks, and waits until they end. When one fails, the others get a moment to
// notice, then SIGTERM, then SIGKILL. No rank outlives this process.
//
// Starts no thread. Requires: only one thread runs. Throws IoError.
[[nodiscard]] ProgramEnd RunLocalRanks(
    int ranks, const std::vector<std::string>& arguments);

}  // namespace infeed
