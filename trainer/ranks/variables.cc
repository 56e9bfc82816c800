#include "trainer/ranks/variables.h"

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr int kMaxPort = 65535;

int ParseNumber(const std::string& name, const std::string& text, int least,
                int most) {
  const auto number = ParsePlainNumber<int>(text);
  if (!number || *number < least || *number > most) {
    throw UsageError(fmt::format("{}={}: must be a whole number from {} to {}",
                                 name, text, least, most));
  }
  return *number;
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

}  // namespace infeed
