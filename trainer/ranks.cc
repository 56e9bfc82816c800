#include "trainer/ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

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
  std::vector<std::string> Collect(std::string_view mine) override {
    return Gather(mine);
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

std::vector<std::vector<double>> Ranks::GatherNumbers(
    const std::vector<double>& mine) {
  const auto* const bytes = reinterpret_cast<const char*>(mine.data());
  std::vector<std::vector<double>> all;
  for (const std::string& text :
       Gather({bytes, mine.size() * sizeof(double)})) {
    if (text.size() != mine.size() * sizeof(double)) {
      throw IoError(
          "the ranks do not say the same things: are all of one version?");
    }
    std::memcpy(all.emplace_back(mine.size()).data(), text.data(), text.size());
  }
  return all;
}

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
