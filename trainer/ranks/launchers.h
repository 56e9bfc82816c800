#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/ranks/place.h"

// A launcher passes a rank its place in environment variables.
namespace infeed {

inline constexpr int kMaxRanks = 1 << 20;

// Reads environment variables. Every error is a UsageError that names the
// variable.
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
  // Throws if it is not set. because: the related variable that is set.
  [[nodiscard]] int Needed(const std::string& name, const std::string& because,
                           int least = 0) const;
  // MASTER_PORT.
  [[nodiscard]] int Port(int otherwise) const;

 private:
  const Environment& environment_;
};

// The names that a launcher or the flags use for a place, for errors.
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

// The place from Slurm's or Open MPI's variables; nullopt: they are not set.
// Throw UsageError.
[[nodiscard]] std::optional<RankPlace> PlaceBySlurm(const Variables& variables);
[[nodiscard]] std::optional<RankPlace> PlaceByMpi(const Variables& variables);

// The first host of a Slurm node list: "node[01-03,7],other" -> node01. Throws
// UsageError for text that is not such a list.
[[nodiscard]] std::string FirstSlurmHost(std::string_view nodes);

// "3,2(x4)" -> {3, 2, 2, 2, 2}: tasks of each node. Throws UsageError.
[[nodiscard]] std::vector<int> SlurmTasksOfNodes(std::string_view tasks);

}  // namespace infeed
