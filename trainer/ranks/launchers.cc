#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "trainer/ranks/slurm_lists.h"
#include "trainer/ranks/variables.h"

namespace infeed {
namespace {

// Below the ports that the kernel gives out, the same for the same name.
int PortOf(std::string_view name) {
  constexpr int kFirst = 12000;
  constexpr int kCount = 20000;
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  }
  return kFirst + static_cast<int>(hash % kCount);
}

// A batch script's and a shell's variables look like those of a task; what
// srun started has a step's number, which is small but for these two.
bool IsSlurmTask(const Variables& variables) {
  constexpr std::int64_t kFirstSpecialStep = 0xfffffff0;
  const std::string text = variables.Text("SLURM_STEP_ID");
  std::string_view rest = text;
  const auto step = TakePlainNumber<std::int64_t>(rest);
  return step && *step < kFirstSpecialStep;
}

int SlurmTasksHere(const Variables& variables) {
  const std::string tasks = variables.Text(
      "SLURM_STEP_TASKS_PER_NODE", variables.Text("SLURM_TASKS_PER_NODE", "1"));
  const std::vector<int> of_nodes = SlurmTasksOfNodes(tasks);
  const int node = variables.Needed("SLURM_NODEID", "SLURM_STEP_ID");
  RequireBelow("SLURM_NODEID", node, "the nodes of SLURM_STEP_TASKS_PER_NODE",
               static_cast<int>(of_nodes.size()));
  return of_nodes[static_cast<std::size_t>(node)];
}

std::string SlurmMaster(const Variables& variables) {
  return FirstSlurmHost(variables.Text("SLURM_STEP_NODELIST",
                                       variables.Text("SLURM_JOB_NODELIST")));
}

std::string MpiMaster(const Variables& variables, const RankPlace& place) {
  if (variables.Has("MASTER_ADDR")) {
    return variables.Text("MASTER_ADDR");
  }
  if (place.local_world_size == place.world_size) {
    return place.master_addr;
  }
  if (variables.Has("SLURM_JOB_NODELIST")) {  // mpirun in a batch script
    return FirstSlurmHost(variables.Text("SLURM_JOB_NODELIST"));
  }
  throw UsageError(
      "MASTER_ADDR is not set, and Open MPI does not say where rank 0 is: give "
      "its host by mpirun -x MASTER_ADDR=HOST");
}

}  // namespace

std::optional<RankPlace> PlaceBySlurm(const Variables& variables) {
  // Its own daemons are all that srun starts for mpirun.
  if (!IsSlurmTask(variables) || variables.Has(kMpiNames.rank)) {
    return std::nullopt;
  }
  RankPlace place;
  place.rank = variables.Needed("SLURM_PROCID", "SLURM_STEP_ID");
  place.world_size = variables.Needed("SLURM_NTASKS", "SLURM_STEP_ID", 1);
  place.local_rank = variables.Needed("SLURM_LOCALID", "SLURM_STEP_ID");
  place.local_world_size = SlurmTasksHere(variables);
  CheckPlace(place, kSlurmNames);
  if (variables.Has("MASTER_ADDR")) {
    place.master_addr = variables.Text("MASTER_ADDR");
  } else if (place.local_world_size < place.world_size) {
    place.master_addr = SlurmMaster(variables);
  }
  place.master_port =
      variables.Port(PortOf("slurm " + variables.Text("SLURM_JOB_ID") + "." +
                            variables.Text("SLURM_STEP_ID")));
  place.source = "Slurm";
  return place;
}

std::optional<RankPlace> PlaceByMpi(const Variables& variables) {
  if (!variables.Has(kMpiNames.rank) && !variables.Has(kMpiNames.world_size)) {
    return std::nullopt;
  }
  RankPlace place;
  place.rank = variables.Needed(kMpiNames.rank, kMpiNames.world_size);
  place.world_size = variables.Needed(kMpiNames.world_size, kMpiNames.rank, 1);
  place.local_rank = variables.Needed(kMpiNames.local_rank, kMpiNames.rank);
  place.local_world_size =
      variables.Needed(kMpiNames.local_world_size, kMpiNames.rank, 1);
  CheckPlace(place, kMpiNames);
  place.master_addr = MpiMaster(variables, place);
  const std::string job = variables.Text("PMIX_NAMESPACE");
  place.master_port =
      variables.Port(job.empty() ? place.master_port : PortOf("mpirun " + job));
  place.source = "Open MPI";
  return place;
}

}  // namespace infeed
