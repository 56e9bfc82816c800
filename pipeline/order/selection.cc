#include "pipeline/order/selection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "pipeline/order/keyed_permutation.h"
#include "records/bytes/fnv_hash.h"
#include "records/bytes/hash_text.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxPlaces = std::numeric_limits<std::uint32_t>::max();

bool IsWeight(double weight) { return std::isfinite(weight) && weight >= 0; }

std::uint32_t DomainOf(std::size_t group) {
  return kGroupDomain + static_cast<std::uint32_t>(group);
}

std::int64_t RecordOf(const RecordGroup& group, std::int64_t number) {
  return group.ids.empty()
             ? group.range.first + number
             : std::int64_t{group.ids[static_cast<std::size_t>(number)]};
}

// Divides `places` among the weights in whole numbers: each share is rounded
// down, and the shares that lost most get one more; ties go to the first.
std::vector<std::int64_t> LargestRemainders(
    const std::vector<RecordGroup>& groups, std::int64_t places) {
  double sum = 0;
  for (const RecordGroup& group : groups) {
    sum += group.weight;
  }
  std::vector<std::int64_t> shares;
  std::vector<double> lost;
  std::int64_t left = places;
  for (const RecordGroup& group : groups) {
    const double share = group.weight / sum * static_cast<double>(places);
    shares.push_back(static_cast<std::int64_t>(share));
    lost.push_back(share - std::floor(share));
    left -= shares.back();
  }
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return lost[a] > lost[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) {
    ++shares[order[i % order.size()]];
  }
  return shares;
}

template <typename T>
std::string_view BytesOf(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Selection::Selection(std::vector<RecordGroup> groups, std::int64_t places)
    : groups_(std::move(groups)), lines_(groups_.size()) {
  CheckGroups();
  if (places == 0) {
    for (const RecordGroup& group : groups_) {
      places += group.size();
    }
  }
  if (places < 1 || places > kMaxPlaces) {
    throw UsageError("an epoch of " + std::to_string(places) +
                     " records: give 1 to " + std::to_string(kMaxPlaces));
  }
  ShareOut(places);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (!groups_[group].weights.empty()) {
      SumWeights(group);
    }
  }
}

void Selection::CheckGroups() const {
  double weights = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const RecordGroup& group = groups_[i];
    if (group.size() == 0) {
      throw UsageError("no record is selected: " + NameOf(i) + " has none");
    }
    if (group.range.first < 0 || group.range.first > kMaxPlaces ||
        group.size() < 0 || group.size() > kMaxPlaces) {
      throw UsageError("the range of " + NameOf(i) + " is not of records");
    }
    if (!group.weights.empty() && std::ssize(group.weights) != group.size()) {
      throw UsageError(NameOf(i) + " has " +
                       std::to_string(group.weights.size()) + " weights for " +
                       std::to_string(group.size()) + " records");
    }
    const double sum =
        std::accumulate(group.weights.begin(), group.weights.end(), 0.0);
    if (!IsWeight(group.weight) || !std::isfinite(sum) ||
        !std::all_of(group.weights.begin(), group.weights.end(), IsWeight) ||
        (!group.weights.empty() && sum == 0)) {
      throw UsageError("a weight of " + NameOf(i) +
                       " cannot be used: give numbers from 0 on, and not 0 "
                       "for all");
    }
    weights += group.weight;
  }
  if (groups_.empty() || !std::isfinite(weights) || weights == 0) {
    throw UsageError("nothing is selected: no group has a weight above 0");
  }
}

std::string Selection::NameOf(std::size_t group) const {
  const std::string& name = groups_[group].name;
  return name.empty() ? "group " + std::to_string(group) : name;
}

void Selection::ShareOut(std::int64_t places) {
  const std::vector<std::int64_t> shares = LargestRemainders(groups_, places);
  starts_.push_back(0);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (shares[group] == 0) {
      throw UsageError(NameOf(group) + " gets no place in an epoch of " +
                       std::to_string(places) +
                       " records: give it more weight, or an epoch more "
                       "records");
    }
    starts_.push_back(starts_.back() + shares[group]);
  }
}

void Selection::SumWeights(std::size_t group) {
  const std::vector<double>& weights = groups_[group].weights;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::uint64_t end = static_cast<std::uint64_t>(places_of(group)) << 32;
  std::vector<std::uint64_t>& line = lines_[group];
  line.reserve(weights.size());
  double sum = 0;
  for (const double weight : weights) {
    sum += weight;
    const double share = sum / total * static_cast<double>(end);
    line.push_back(share < static_cast<double>(end)
                       ? static_cast<std::uint64_t>(share)
                       : end);
  }
}

std::int64_t Selection::RecordAt(std::uint64_t seed, std::uint32_t epoch,
                                 std::int64_t place) const {
  Check(place >= 0 && place < places(), "the place is in the epoch");
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), place);
  const auto group = static_cast<std::size_t>(next - starts_.begin()) - 1;
  const std::int64_t j = place - starts_[group];
  return RecordOf(groups_[group], groups_[group].weights.empty()
                                      ? InPass(group, seed, epoch, j)
                                      : OnLine(group, seed, epoch, j));
}

std::int64_t Selection::InPass(std::size_t group, std::uint64_t seed,
                               std::uint32_t epoch, std::int64_t j) const {
  const auto size = static_cast<std::uint64_t>(groups_[group].size());
  const auto places = static_cast<std::uint64_t>(places_of(group));
  const std::uint64_t q = epoch * places + static_cast<std::uint64_t>(j);
  const auto number = static_cast<std::uint32_t>(q % size);
  if (places % size == 0) {
    return number;
  }
  return KeyedPermutation(static_cast<std::uint32_t>(size),
                          {.seed = seed,
                           .epoch = static_cast<std::uint32_t>(q / size),
                           .domain = DomainOf(group)})
      .At(number);
}

std::int64_t Selection::OnLine(std::size_t group, std::uint64_t seed,
                               std::uint32_t epoch, std::int64_t j) const {
  SampleRandom draw({.seed = seed,
                     .epoch = epoch,
                     .position = std::uint64_t{DomainOf(group)} << 32},
                    RandomStream::kOrder);
  const std::uint64_t point =
      (static_cast<std::uint64_t>(j) << 32) + draw.Word();
  const std::vector<std::uint64_t>& line = lines_[group];
  return std::upper_bound(line.begin(), line.end(), point) - line.begin();
}

bool Selection::is_subset() const {
  return groups_.size() == 1 && groups_[0].weights.empty() &&
         groups_[0].size() == places();
}

std::int64_t Selection::last_record() const {
  std::int64_t last = 0;
  for (const RecordGroup& group : groups_) {
    last = std::max(last, group.ids.empty()
                              ? group.range.first + group.range.count - 1
                              : std::int64_t{*std::max_element(
                                    group.ids.begin(), group.ids.end())});
  }
  return last;
}

std::string Selection::identity() const {
  // The groups' places represent their weights, and the ends on the line the
  // records' weights: only these results determine the records.
  std::string text(BytesOf(starts_));
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const RecordGroup& group = groups_[i];
    const bool is_range = group.ids.empty();
    const std::vector<std::uint64_t> numbers = {
        static_cast<std::uint64_t>(is_range ? group.range.first : 0),
        static_cast<std::uint64_t>(group.size()), FnvHash(BytesOf(group.ids)),
        FnvHash(BytesOf(lines_[i]))};
    text += BytesOf(numbers);
  }
  return HashText(FnvHash(text));
}

Selection SpreadSelection(std::int64_t records, std::int64_t places) {
  Check(places > 0 && places <= records && records <= kMaxPlaces,
        "the records hold the sample");
  std::vector<std::uint32_t> ids;
  ids.reserve(static_cast<std::size_t>(places));
  for (std::int64_t i = 0; i < places; ++i) {
    const auto start = static_cast<std::uint32_t>(i * records / places);
    const auto end = static_cast<std::uint32_t>((i + 1) * records / places);
    SampleRandom draw({.position = static_cast<std::uint64_t>(i)},
                      RandomStream::kOrder);
    ids.push_back(start + draw.Below(end - start));
  }
  return Selection({{.name = "sample", .ids = std::move(ids)}});
}

}  // namespace infeed
