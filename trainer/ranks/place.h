#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"

namespace infeed {

// Where this process stands among those that train together: one a device.
struct RankPlace {
  int rank = 0;        // 0..world_size - 1; rank 0 writes
  int world_size = 1;  // of all machines
  int local_rank = 0;  // on this machine, 0..local_world_size - 1
  int local_world_size = 1;
  // Where rank 0 listens: an address that every rank reaches.
  std::string master_addr = "127.0.0.1";
  int master_port = 29500;
  // Who said so: "flags", "torchrun", "RANK", "Slurm", "Open MPI", "one
  // process".
  std::string source = "one process";
  // Whether the launcher itself serves the ranks' store at that address, as
  // torchrun does: rank 0 must not. Such a store outlives a failed attempt, so
  // the attempts are told apart.
  bool store_is_served = false;
  int attempt = 0;
  // The secret that all ranks have, from the environment alone; "": none, and
  // anybody who reaches rank 0 can say that it is a rank. Never printed.
  std::string token = {};
  // The socket, listening, that a launcher hands to rank 0; -1: none.
  int listener = -1;

  [[nodiscard]] bool is_first() const { return rank == 0; }
  [[nodiscard]] bool is_alone() const { return world_size == 1; }
  // "rank 2 of 8 (1 of 4 on this machine), by torchrun, rank 0 at host:29500".
  [[nodiscard]] std::string Describe() const;
};

// Whether no other machine reaches the address: localhost, 127.x or ::1.
[[nodiscard]] bool IsThisMachineOnly(const std::string& address);

// What the command line says of it; absent: nothing.
struct RankFlags {
  std::optional<int> rank = {};
  std::optional<int> world_size = {};
  std::optional<int> local_rank = {};
  std::optional<int> local_world_size = {};
  std::optional<std::string> master_addr = {};
  std::optional<int> master_port = {};
};

// The variables by which a launcher, or a user, gives token and listener.
inline constexpr const char* kRankTokenVariable = "INFEED_RANK_TOKEN";
inline constexpr const char* kRankListenerVariable = "INFEED_RANK_LISTENER";

// A longer token is refused: it must fit into a rank's first message.
inline constexpr std::size_t kMaxRankToken = 256;

// 256 random bits of the system's, in hexadecimal. Throws IoError.
[[nodiscard]] std::string MakeRankToken();

// Whether both are equal; takes as long wherever they differ, so that a
// stranger cannot find a token character by character.
[[nodiscard]] bool IsSameToken(std::string_view one, std::string_view other);

// Finds the place by the first of these that speaks: the flags; RANK and
// WORLD_SIZE, as torchrun sets them; a Slurm step's SLURM_PROCID and
// SLURM_NTASKS, unless it is the step by which Open MPI starts its daemons;
// Open MPI's OMPI_COMM_WORLD_RANK and _SIZE. None: one process. The token is
// the environment's in every case. Throws UsageError naming the flag or
// variable that is missing, out of range, or contradicts another. docs/ranks.md
// has it in full.
[[nodiscard]] RankPlace FindRank(const RankFlags& flags,
                                 const Environment& environment);

}  // namespace infeed
