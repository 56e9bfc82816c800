#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/ranks/place.h"

// How a launcher tells a rank its place: by variables of the environment.
namespace infeed {

inline constexpr int kMaxRanks = 1 << 20;

// The environment, read with the names of variables in every error, all
// UsageErrors.
class Variables {
 public:
  // environment: must outlive it.
  explicit Variables(const Environment& environment)
      : environment_(environment) {}

  [[nodiscard]] bool Has(const std::string& name) const {
    return environment_(name).has_value();
  }
  [[nodiscard]] std::string Text(const std::string& name,
                                 const std::string& otherwise = "") const {
    return environment_(name).value_or(otherwise);
  }
  [[nodiscard]] std::optional<int> Number(const std::string& name, int least,
                                          int most) const;
  // because: what of the same set is there.
  [[nodiscard]] int Needed(const std::string& name, const std::string& because,
                           int least = 0) const;
  // MASTER_PORT.
  [[nodiscard]] int Port(int otherwise) const;

 private:
  const Environment& environment_;
};

// The names by which one of the ways says it, for errors.
struct PlaceNames {
  std::string rank;
  std::string world_size;
  std::string local_rank;
  std::string local_world_size;
};

inline const PlaceNames kSlurmNames = {"SLURM_PROCID", "SLURM_NTASKS",
                                       "SLURM_LOCALID",
                                       "SLURM_STEP_TASKS_PER_NODE"};
inline const PlaceNames kMpiNames = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};

// Throws UsageError naming both unless value < most.
void RequireBelow(const std::string& name, int value, const std::string& limit,
                  int most);

// Throws UsageError unless each number is in its range.
void CheckPlace(const RankPlace& place, const PlaceNames& names);

// What a Slurm step or Open MPI says; nullopt: nothing. Throw UsageError.
[[nodiscard]] std::optional<RankPlace> PlaceBySlurm(const Variables& variables);
[[nodiscard]] std::optional<RankPlace> PlaceByMpi(const Variables& variables);

// Of the lists in which Slurm tells of its nodes: "node[01-03,7],other" ->
// node01. Throws UsageError for what is no such list.
[[nodiscard]] std::string FirstSlurmHost(std::string_view nodes);

// "3,2(x4)" -> {3, 2, 2, 2, 2}: tasks of each node. Throws UsageError.
[[nodiscard]] std::vector<int> SlurmTasksOfNodes(std::string_view tasks);

}  // namespace infeed
