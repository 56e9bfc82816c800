#include "trainer/ranks.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

class Alone final : public Ranks {
 public:
  Alone() : Ranks({}) {}

  std::vector<std::string> Gather(std::string_view mine) override {
    return {std::string(mine)};
  }
  std::string Broadcast(std::string_view mine) override {
    return std::string(mine);
  }
  void Fail(std::string_view /*message*/) noexcept override {}
  std::optional<std::string> WhyOver(
      std::chrono::milliseconds /*patience*/) override {
    return std::nullopt;
  }
};

}  // namespace

bool Ranks::Any(bool mine) {
  return std::ranges::count(Gather(mine ? "yes" : "no"), "yes") > 0;
}

void Ranks::RequireSame(std::string_view what, std::string_view mine) {
  const std::vector<std::string> all = Gather(mine);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all[0]) {
      throw IoError(
          fmt::format("the {} of rank {} are not those of rank 0", what, rank));
    }
  }
}

std::unique_ptr<Ranks> OneRank() { return std::make_unique<Alone>(); }

}  // namespace infeed
