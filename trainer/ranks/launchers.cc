#include "trainer/ranks/launchers.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr int kMaxPort = 65535;
constexpr int kMaxNodes = 1 << 20;

int ParseNumber(const std::string& name, const std::string& text, int least,
                int most) {
  const auto number = ParsePlainNumber<int>(text);
  if (!number || *number < least || *number > most) {
    throw UsageError(fmt::format("{}={}: must be a whole number from {} to {}",
                                 name, text, least, most));
  }
  return *number;
}

void RequireList(bool is_one, std::string_view list) {
  if (!is_one) {
    throw UsageError(
        fmt::format("'{}': not a Slurm list of tasks, such as 3,2(x4)", list));
  }
}

// Removes the number at the front of the text and returns it.
int TakeNumber(std::string_view& text, std::string_view list) {
  const auto number = TakePlainNumber<int>(text);
  RequireList(number && *number >= 1 && *number <= kMaxNodes, list);
  return *number;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// A port derived from the name, below the range from which the kernel assigns
// ports.
int PortOfJob(std::string_view name) {
  constexpr int kFirst = 12000;
  constexpr int kCount = 20000;
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  }
  return kFirst + static_cast<int>(hash % kCount);
}

// In a batch script and in a shell, the variables look as in a task. A task
// started by srun has a small step number; batch scripts and shells have one of
// these two numbers.
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
      "MASTER_ADDR is not set, and Open MPI does not provide the host of rank "
      "0: give it by mpirun -x MASTER_ADDR=HOST");
}

}  // namespace

std::optional<int> Variables::Number(const std::string& name, int least,
                                     int most) const {
  const std::optional<std::string> text = environment_(name);
  return text ? std::optional(ParseNumber(name, *text, least, most))
              : std::nullopt;
}

int Variables::Needed(const std::string& name, const std::string& because,
                      int least) const {
  const std::optional<int> number = Number(name, least, kMaxRanks);
  if (!number) {
    throw UsageError(
        fmt::format("{} is set, but {} is not: set both", because, name));
  }
  return *number;
}

int Variables::Port(int otherwise) const {
  return Number("MASTER_PORT", 1, kMaxPort).value_or(otherwise);
}

void RequireBelow(const std::string& name, int value, const std::string& limit,
                  int most) {
  if (value >= most) {
    throw UsageError(fmt::format("{}={}: must be less than {}={}", name, value,
                                 limit, most));
  }
}

void CheckPlace(const RankPlace& place, const PlaceNames& names) {
  RequireBelow(names.rank, place.rank, names.world_size, place.world_size);
  RequireBelow(names.local_rank, place.local_rank, names.local_world_size,
               place.local_world_size);
  if (place.local_world_size > place.world_size) {
    throw UsageError(fmt::format("{}={}: more than {}={}",
                                 names.local_world_size, place.local_world_size,
                                 names.world_size, place.world_size));
  }
  if (place.local_rank > place.rank) {
    throw UsageError(fmt::format("{}={}: more than {}={}", names.local_rank,
                                 place.local_rank, names.rank, place.rank));
  }
}

std::optional<RankPlace> PlaceBySlurm(const Variables& variables) {
  // For mpirun, srun starts only its daemons.
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
      variables.Port(PortOfJob("slurm " + variables.Text("SLURM_JOB_ID") + "." +
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
  place.master_port = variables.Port(job.empty() ? place.master_port
                                                 : PortOfJob("mpirun " + job));
  place.source = "Open MPI";
  return place;
}

std::string FirstSlurmHost(std::string_view nodes) {
  const std::string_view before = nodes.substr(0, nodes.find_first_of("[,"));
  std::string host(before);
  if (before.size() < nodes.size() && nodes[before.size()] == '[') {
    const std::string_view inside = nodes.substr(before.size() + 1);
    const std::size_t end = inside.find(']');
    host += inside.substr(0, inside.find_first_of("-,]"));
    if (end == std::string_view::npos || host.size() == before.size()) {
      host.clear();
    } else {
      const std::string_view after = inside.substr(end + 1);
      host += after.substr(0, after.find_first_of("[,"));
    }
  }
  if (host.empty()) {
    throw UsageError(fmt::format(
        "'{}': not a Slurm list of nodes, such as node[01-03,7]", nodes));
  }
  return host;
}

std::vector<int> SlurmTasksOfNodes(std::string_view tasks) {
  std::vector<int> of_nodes;
  std::string_view rest = tasks;
  do {
    const int count = TakeNumber(rest, tasks);
    int nodes = 1;
    if (TakePrefix(rest, "(x")) {
      nodes = TakeNumber(rest, tasks);
      RequireList(TakePrefix(rest, ")"), tasks);
    }
    of_nodes.insert(of_nodes.end(), static_cast<std::size_t>(nodes), count);
  } while (TakePrefix(rest, ","));
  RequireList(rest.empty(), tasks);
  return of_nodes;
}

}  // namespace infeed
