#pragma once

#include <string>
#include <vector>

#include "base/error.h"

// Ranks of one machine: train_resnet --local_ranks N.
namespace infeed {

// The command line that ranks get: without --local_ranks, in any spelling.
[[nodiscard]] std::vector<std::string> RankArguments(int argc, char** argv);

// How one of the ranks ended, in the order of their ends.
struct RankEnd {
  int rank = 0;
  int code = 0;    // the exit code; 0 when a signal ended it
  int signal = 0;  // 0: none
};

// What the launcher ends with: 0 when all are done, 75 when all stopped with a
// checkpoint. Else the first one's that failed; where that says no more than
// that something went wrong (1, or a signal, which becomes 1), the first one's
// that does.
[[nodiscard]] ExitCode CodeOf(const std::vector<RankEnd>& ends);

// Starts this program once for each rank, with the arguments and with RANK,
// WORLD_SIZE, a new token and so on in the environment; the ranks meet at a
// port of 127.0.0.1. Passes SIGINT, SIGTERM and SIGUSR1
// on to them, and waits for their end. When one fails, the others get a moment
// to notice, then SIGTERM, then SIGKILL. None of them outlives this process.
//
// Starts no thread, and is called while there is none. Throws IoError.
[[nodiscard]] ExitCode RunLocalRanks(int ranks,
                                     const std::vector<std::string>& arguments);

}  // namespace infeed
