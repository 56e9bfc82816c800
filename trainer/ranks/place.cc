#include "trainer/ranks/place.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"
#include "trainer/ranks/launchers.h"

namespace infeed {
namespace {

const PlaceNames kFlagNames = {"--rank", "--world_size", "--local_rank",
                               "--local_world_size"};
const PlaceNames kTorchNames = {"RANK", "WORLD_SIZE", "LOCAL_RANK",
                                "LOCAL_WORLD_SIZE"};

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

bool IsThisMachineOnly(const std::string& address) {
  return address == "localhost" || address == "::1" ||
         address.starts_with("127.");
}

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

}  // namespace infeed
