#include "trainer/ranks/place.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr int kMaxPort = 65535;
constexpr int kMaxNodes = 1 << 20;
constexpr int kMaxRanks = 1 << 20;

int ParseNumber(const std::string& name, const std::string& text, int least,
                int most) {
  const auto number = ParsePlainNumber<int>(text);
  if (!number || *number < least || *number > most) {
    throw UsageError(fmt::format("{}={}: must be a whole number from {} to {}",
                                 name, text, least, most));
  }
  return *number;
}

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
                                          int most) const {
    const std::optional<std::string> text = environment_(name);
    return text ? std::optional(ParseNumber(name, *text, least, most))
                : std::nullopt;
  }

  // Throws if it is not set. because: the related variable that is set.
  [[nodiscard]] int Needed(const std::string& name, const std::string& because,
                           int least = 0) const {
    const std::optional<int> number = Number(name, least, kMaxRanks);
    if (!number) {
      throw UsageError(
          fmt::format("{} is set, but {} is not: set both", because, name));
    }
    return *number;
  }

  // MASTER_PORT.
  [[nodiscard]] int Port(int otherwise) const {
    return Number("MASTER_PORT", 1, kMaxPort).value_or(otherwise);
  }

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

const PlaceNames kFlagNames = {"--rank", "--world_size", "--local_rank",
                               "--local_world_size"};
const PlaceNames kTorchNames = {"RANK", "WORLD_SIZE", "LOCAL_RANK",
                                "LOCAL_WORLD_SIZE"};
const PlaceNames kSlurmNames = {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
                                "SLURM_STEP_TASKS_PER_NODE"};
const PlaceNames kMpiNames = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                              "OMPI_COMM_WORLD_LOCAL_RANK",
                              "OMPI_COMM_WORLD_LOCAL_SIZE"};

// Throws UsageError naming both unless value < most.
void RequireBelow(const std::string& name, int value, const std::string& limit,
                  int most) {
  if (value >= most) {
    throw UsageError(fmt::format("{}={}: must be less than {}={}", name, value,
                                 limit, most));
  }
}

// Throws UsageError unless each number is in its range.
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

// Sets local_rank and local_world_size: as given, or, where no other machine
// can reach rank 0's address, all ranks are on this machine.
void SetLocal(std::optional<int> rank, std::optional<int> size,
              const PlaceNames& names, RankPlace& place) {
  if (rank.has_value() != size.has_value()) {
    throw UsageError(
        fmt::format("{} is set, but {} is not: set both",
                    rank ? names.local_rank : names.local_world_size,
                    rank ? names.local_world_size : names.local_rank));
  }
  if (!rank && !IsThisMachineOnly(place.master_addr)) {
    throw UsageError(
        fmt::format("{} and {} are needed with {}: the number of this rank on "
                    "its machine, and how many ranks that machine has",
                    names.local_rank, names.local_world_size, names.rank));
  }
  place.local_rank = rank.value_or(place.rank);
  place.local_world_size = size.value_or(place.world_size);
}

std::optional<RankPlace> ByFlags(const RankFlags& flags) {
  if (flags.rank.has_value() != flags.world_size.has_value()) {
    throw UsageError("--rank and --world_size need each other: give both");
  }
  if (!flags.rank) {
    if (flags.local_rank || flags.local_world_size || flags.master_addr ||
        flags.master_port) {
      throw UsageError(
          "--local_rank, --local_world_size, --master_addr and --master_port "
          "go with --rank and --world_size: give these too");
    }
    return std::nullopt;
  }
  RankPlace place;
  place.rank = *flags.rank;
  place.world_size = *flags.world_size;
  place.master_addr = flags.master_addr.value_or(place.master_addr);
  place.master_port = flags.master_port.value_or(place.master_port);
  place.source = "flags";
  SetLocal(flags.local_rank, flags.local_world_size, kFlagNames, place);
  CheckPlace(place, kFlagNames);
  return place;
}

// The place from torchrun's variables, set by torchrun or by hand.
std::optional<RankPlace> ByTorch(const Variables& variables) {
  if (!variables.Has("RANK") && !variables.Has("WORLD_SIZE")) {
    return std::nullopt;
  }
  RankPlace place;
  place.rank = variables.Needed("RANK", "WORLD_SIZE");
  place.world_size = variables.Needed("WORLD_SIZE", "RANK", 1);
  place.master_addr = variables.Text("MASTER_ADDR", place.master_addr);
  place.master_port = variables.Port(place.master_port);
  place.source = variables.Has("TORCHELASTIC_RUN_ID") ? "torchrun" : "RANK";
  place.store_is_served =
      variables.Text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.attempt =
      variables.Number("TORCHELASTIC_RESTART_COUNT", 0, kMaxRanks).value_or(0);
  SetLocal(variables.Number("LOCAL_RANK", 0, kMaxRanks),
           variables.Number("LOCAL_WORLD_SIZE", 1, kMaxRanks), kTorchNames,
           place);
  CheckPlace(place, kTorchNames);
  return place;
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

// The places from the variables of a launcher; nullopt: they are not set. Throw
// UsageError.
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

void RequireSameNumber(const std::string& name, int value,
                       const std::string& other_name, int other) {
  if (value != other) {
    throw UsageError(
        fmt::format("{}={} contradicts {}={}: unset the wrong variables, or "
                    "give --rank and --world_size",
                    name, value, other_name, other));
  }
}

// Throws where variables set by hand contradict a launcher that runs several
// tasks; they are often the same in all tasks. torchrun in each task is normal.
void RequireAgreement(const RankPlace& by_hand,
                      const std::optional<RankPlace>& launcher,
                      const PlaceNames& names) {
  if (!launcher || launcher->is_alone()) {
    return;
  }
  RequireSameNumber(kTorchNames.rank, by_hand.rank, names.rank, launcher->rank);
  RequireSameNumber(kTorchNames.world_size, by_hand.world_size,
                    names.world_size, launcher->world_size);
}

RankPlace FindPlace(const RankFlags& flags, const Variables& variables) {
  if (const std::optional<RankPlace> place = ByFlags(flags)) {
    return *place;
  }
  if (const std::optional<RankPlace> place = ByTorch(variables)) {
    if (place->source == "RANK") {
      RequireAgreement(*place, PlaceBySlurm(variables), kSlurmNames);
      RequireAgreement(*place, PlaceByMpi(variables), kMpiNames);
    }
    return *place;
  }
  if (const std::optional<RankPlace> place = PlaceBySlurm(variables)) {
    return *place;
  }
  return PlaceByMpi(variables).value_or(RankPlace{});
}

// "": none.
std::string TokenOf(const Variables& variables) {
  std::string token = variables.Text(kRankTokenVariable);
  if (token.size() > kMaxRankToken) {
    throw UsageError(fmt::format("{}: must have at most {} characters, has {}",
                                 kRankTokenVariable, kMaxRankToken,
                                 token.size()));
  }
  return token;
}

}  // namespace

std::string RankPlace::Describe() const {
  if (is_alone()) {
    return "one process";
  }
  return fmt::format(
      "rank {} of {} ({} of {} on this machine), by {}, rank 0 at {}:{}", rank,
      world_size, local_rank, local_world_size, source, master_addr,
      master_port);
}

int WorldSizeIn(std::string_view description) {
  constexpr std::string_view kOf = " of ";
  const std::size_t found = description.find(kOf);
  if (!description.starts_with("rank ") || found == std::string_view::npos) {
    return 1;
  }
  std::string_view number = description.substr(found + kOf.size());
  number = number.substr(0, number.find(' '));
  return ParsePlainNumber<int>(number).value_or(1);
}

std::string MakeRankToken() {
  // getrandom() returns up to 256 bytes at once.
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    throw IoError("the ranks' token", "get random bytes", errno);
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

RankPlace FindRank(const RankFlags& flags, const Environment& environment) {
  const Variables variables(environment);
  RankPlace place = FindPlace(flags, variables);
  if (!place.is_alone()) {
    place.token = TokenOf(variables);
    if (place.is_first()) {
      place.listener =
          variables
              .Number(kRankListenerVariable, 0, std::numeric_limits<int>::max())
              .value_or(-1);
    }
  }
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
