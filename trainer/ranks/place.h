#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"

namespace infeed {

// The place of this process among those that train together, one for each
// device.
struct RankPlace {
  int rank = 0;        // 0..world_size - 1; rank 0 writes
  int world_size = 1;  // of all machines
  int local_rank = 0;  // on this machine, below local_world_size
  int local_world_size = 1;
  // Where rank 0 listens: an address that every rank can reach.
  std::string master_addr = "127.0.0.1";
  int master_port = 29500;
  // Where the place was read from: "flags", "torchrun", "RANK", "Slurm", "Open
  // MPI", "one process".
  std::string source = "one process";
  // Whether the launcher itself serves the ranks' store at that address, as
  // torchrun does; then rank 0 must not listen there. Such a store outlives a
  // failed attempt, so `attempt` distinguishes the attempts.
  bool store_is_served = false;
  int attempt = 0;
  // The secret that all ranks have, read from the environment only. "": none,
  // and any process that can connect to rank 0 can pretend to be a rank. Never
  // printed.
  std::string token = {};
  // The listening socket that a launcher passes to rank 0; -1: none.
  int listener = -1;

  [[nodiscard]] bool is_first() const { return rank == 0; }
  [[nodiscard]] bool is_alone() const { return world_size == 1; }
  // "rank 2 of 8 (1 of 4 on this machine), by torchrun, rank 0 at host:29500".
  [[nodiscard]] std::string Describe() const;
};

// The world size in a text of Describe().
[[nodiscard]] int WorldSizeIn(std::string_view description);

// Whether no other machine can reach the address: localhost, 127.x or ::1.
[[nodiscard]] inline bool IsThisMachineOnly(const std::string& address) {
  return address == "localhost" || address == "::1" ||
         address.starts_with("127.");
}

// The flags that set the place; absent: not given.
struct RankFlags {
  std::optional<int> rank = {};
  std::optional<int> world_size = {};
  std::optional<int> local_rank = {};
  std::optional<int> local_world_size = {};
  std::optional<std::string> master_addr = {};
  std::optional<int> master_port = {};
};

// The variables in which a launcher, or a user, passes token and listener.
inline constexpr const char* kRankTokenVariable = "INFEED_RANK_TOKEN";
inline constexpr const char* kRankListenerVariable = "INFEED_RANK_LISTENER";

// A longer token is rejected: it must fit into a rank's first message.
inline constexpr std::size_t kMaxRankToken = 256;

// 256 random bits from the operating system, in hexadecimal. Throws IoError.
[[nodiscard]] std::string MakeRankToken();

// Reads the place from the first source that is set: the flags; RANK and
// WORLD_SIZE, as torchrun sets them; a Slurm step's SLURM_PROCID and
// SLURM_NTASKS, unless it is the step in which Open MPI starts its daemons;
// Open MPI's OMPI_COMM_WORLD_RANK and _SIZE. If none is set, a single process
// runs. The token is always read from the environment. Throws UsageError naming
// the flag or variable that is missing, out of range, or contradicts another.
// docs/ranks.md has the details.
[[nodiscard]] RankPlace FindRank(const RankFlags& flags,
                                 const Environment& environment);

// The first host of a Slurm node list: "node[01-03,7],other" -> node01. Throws
// UsageError for text that is not such a list.
[[nodiscard]] std::string FirstSlurmHost(std::string_view nodes);

// "3,2(x4)" -> {3, 2, 2, 2, 2}: tasks of each node. Throws UsageError.
[[nodiscard]] std::vector<int> SlurmTasksOfNodes(std::string_view tasks);

}  // namespace infeed
