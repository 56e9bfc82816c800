#include "trainer/ranks/ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

// Sum, most and rank, as numbers between ranks.
constexpr std::size_t kTotalWords = 3;

std::string BytesOf(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()),
          numbers.size() * sizeof(double)};
}

// Throws IoError unless the bytes hold `count` numbers.
std::vector<double> NumbersOf(std::string_view bytes, std::size_t count) {
  if (bytes.size() != count * sizeof(double)) {
    throw IoError(
        "the ranks sent messages of different lengths: do all ranks run the "
        "same version?");
  }
  std::vector<double> numbers(count);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// The totals of `count` numbers from each rank.
std::string TotalsOf(const std::vector<std::string>& messages,
                     std::size_t count) {
  std::vector<double> totals;
  totals.reserve(count * kTotalWords);
  for (const double first : NumbersOf(messages.front(), count)) {
    totals.insert(totals.end(), {first, first, 0});
  }
  for (std::size_t rank = 1; rank < messages.size(); ++rank) {
    const std::vector<double> numbers = NumbersOf(messages[rank], count);
    for (std::size_t i = 0; i < count; ++i) {
      double* const total = &totals[i * kTotalWords];
      total[0] += numbers[i];
      if (numbers[i] > total[1]) {
        total[1] = numbers[i];
        total[2] = static_cast<double>(rank);
      }
    }
  }
  return BytesOf(totals);
}

class Alone final : public Ranks {
 public:
  Alone() : Ranks({}) {}

  std::string Reduce(std::string_view mine, const Reduction& reduce) override {
    return reduce({std::string(mine)});
  }
  void Post(const std::string& key, std::string_view note) override {
    notes_[key] = note;
  }
  std::string Read(const std::string& key,
                   std::chrono::milliseconds /*timeout*/) override {
    Check(notes_.contains(key), "a single rank reads only its own notes");
    return notes_[key];
  }
  void Fail(std::string_view /*message*/) noexcept override {}
  std::optional<std::string> EndReason(
      std::chrono::milliseconds /*patience*/) override {
    return std::nullopt;
  }

 private:
  std::map<std::string, std::string> notes_;
};

}  // namespace

std::string Ranks::NextPrefix(std::string_view kind) {
  return fmt::format("{}/{}/", kind, prefixes_++);
}

std::vector<std::string> Ranks::Collect(std::string_view mine) {
  std::vector<std::string> all;
  (void)Reduce(mine, [&all](const std::vector<std::string>& messages) {
    all = messages;
    return std::string();
  });
  return all;
}

std::string Ranks::Broadcast(std::string_view mine) {
  return Reduce(place_.is_first() ? mine : std::string_view(),
                [](const std::vector<std::string>& messages) {
                  return messages.front();
                });
}

bool Ranks::Any(bool mine) { return Total({mine ? 1.0 : 0.0})[0].most > 0; }

std::vector<RankTotal> Ranks::Total(const std::vector<double>& mine) {
  const std::size_t count = mine.size();
  const std::vector<double> words =
      NumbersOf(Reduce(BytesOf(mine),
                       [count](const std::vector<std::string>& messages) {
                         return TotalsOf(messages, count);
                       }),
                count * kTotalWords);
  std::vector<RankTotal> totals;
  for (std::size_t i = 0; i < words.size(); i += kTotalWords) {
    totals.push_back({.sum = words[i],
                      .most = words[i + 1],
                      .rank = static_cast<int>(words[i + 2])});
  }
  return totals;
}

// The answer of Reduce() is the first rank that differs; empty: none differs.
void Ranks::RequireSame(std::string_view what, std::string_view mine) {
  const std::string other =
      Reduce(mine, [](const std::vector<std::string>& messages) {
        const auto found = std::ranges::find_if(
            messages, [&messages](const std::string& message) {
              return message != messages.front();
            });
        return found == messages.end()
                   ? std::string()
                   : std::to_string(found - messages.begin());
      });
  if (!other.empty()) {
    throw IoError(fmt::format("the {} of rank {} differ from those of rank 0",
                              what, other));
  }
}

std::unique_ptr<Ranks> OneRank() { return std::make_unique<Alone>(); }

}  // namespace infeed
