#include "tools/rewrite/record_diff.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "records/bytes/plain_text.h"
#include "records/example/reader.h"
#include "records/files/open_source.h"
#include "records/store/file_records.h"
#include "tools/cli/parallel_for.h"

namespace infeed {
namespace {

using Hashes = std::vector<RecordHash>;

// Multiplies twice by odd numbers, between shifts: one-to-one, and each input
// bit changes about half of the output bits.
std::uint64_t Mix(std::uint64_t word) {
  word = (word ^ (word >> 32)) * 0x9FB21C651E98DF25;
  word = (word ^ (word >> 29)) * 0xD6E8FEB86659FD93;
  return word ^ (word >> 32);
}

// Adds words and texts to two independent sums.
class Hasher {
 public:
  void Add(std::uint64_t word) {
    hash_.high = Mix(hash_.high ^ word);
    hash_.low = Mix(hash_.low + std::rotl(word, 23));
  }
  void Add(std::int64_t value) { Add(static_cast<std::uint64_t>(value)); }
  // Hashes the bits, so that different numbers differ, and a NaN equals itself.
  void Add(float value) {
    Add(std::uint64_t{std::bit_cast<std::uint32_t>(value)});
  }
  void Add(std::string_view text) {
    Add(std::uint64_t{text.size()});
    while (!text.empty()) {
      std::uint64_t word = 0;
      const std::size_t count = std::min(text.size(), sizeof(word));
      std::memcpy(&word, text.data(), count);
      Add(word);
      text.remove_prefix(count);
    }
  }
  void Add(std::monostate /*none*/) {}
  template <typename T>
  void Add(const std::vector<T>& values) {
    Add(std::uint64_t{values.size()});
    for (const T& value : values) {
      Add(value);
    }
  }

  [[nodiscard]] RecordHash hash() const { return hash_; }

 private:
  RecordHash hash_ = {.high = 0x243F6A8885A308D3, .low = 0x13198A2E03707344};
};

constexpr std::uint64_t kExample = 1;
constexpr std::uint64_t kBytes = 2;

bool IsSame(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) {  // NaN equals itself.
                      return std::bit_cast<std::uint32_t>(x) ==
                             std::bit_cast<std::uint32_t>(y);
                    });
}

bool IsSame(const ExampleFeature& a, const ExampleFeature& b) {
  const auto* const floats_a = std::get_if<std::vector<float>>(&a.values);
  const auto* const floats_b = std::get_if<std::vector<float>>(&b.values);
  return floats_a != nullptr && floats_b != nullptr
             ? IsSame(*floats_a, *floats_b)
             : a.values == b.values;
}

// The records of a set in order, with their places.
class PlacedRecords {
 public:
  PlacedRecords(const DiffSet& set, BadRecords& bad)
      : set_(set), stream_(set.paths.size(), set.open, bad) {}

  std::optional<Record> Next() {
    const std::optional<Record> record = stream_.Next();
    if (record) {
      place_ = {PathForMessages(set_.paths[stream_.shard()]), record->number,
                record->offset};
    }
    return record;
  }
  // The place of the last record.
  [[nodiscard]] const DataError::Origin& place() const { return place_; }

 private:
  const DiffSet& set_;
  RecordStream stream_;
  DataError::Origin place_;
};

void Note(DiffReport& report, const DiffOptions& options,
          RecordDifference difference) {
  ++report.differences;
  if (std::ssize(report.first) < options.limit) {
    report.first.push_back(std::move(difference));
  }
}

// Whether two payloads have the same content; sets `keys` to the differing
// keys, if known.
bool IsSame(std::span<const std::byte> a, std::span<const std::byte> b,
            std::vector<KeyDifference>& keys) {
  if (std::equal(a.begin(), a.end(), b.begin(), b.end())) {
    return true;
  }
  try {
    keys = CompareExamples(a, b);
    return keys.empty();
  } catch (const DataError&) {
    return false;
  }
}

DiffReport DiffInOrder(const DiffSet& a, const DiffSet& b,
                       const DiffOptions& options, BadRecords& bad,
                       const std::function<void()>& on_record) {
  DiffReport report;
  PlacedRecords records_a(a, bad);
  PlacedRecords records_b(b, bad);
  for (;;) {
    const std::optional<Record> in_a = records_a.Next();
    const std::optional<Record> in_b = records_b.Next();
    if (!in_a && !in_b) {
      return report;
    }
    on_record();
    report.records_a += in_a ? 1 : 0;
    report.records_b += in_b ? 1 : 0;
    RecordDifference difference;
    if (in_a && in_b && IsSame(in_a->payload, in_b->payload, difference.keys)) {
      continue;
    }
    difference.a = in_a ? std::optional(records_a.place()) : std::nullopt;
    difference.b = in_b ? std::optional(records_b.place()) : std::nullopt;
    Note(report, options, std::move(difference));
  }
}

// The hashes of all records of a set, sorted.
Hashes HashSet(const DiffSet& set, const DiffOptions& options, BadRecords& bad,
               const std::function<void()>& on_record) {
  std::vector<Hashes> parts(set.paths.size());
  ParallelFor(parts.size(), options.threads, [&](std::size_t i) {
    RecordStream stream(
        1, [&](std::size_t) { return set.open(i); }, bad);
    while (const std::optional<Record> record = stream.Next()) {
      parts[i].push_back(HashRecord(record->payload));
      on_record();
    }
  });
  std::size_t count = 0;
  for (const Hashes& part : parts) {
    count += part.size();
  }
  Hashes hashes;
  hashes.reserve(count);
  for (Hashes& part : parts) {
    hashes.insert(hashes.end(), part.begin(), part.end());
    part = {};
  }
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

// The places of records with these hashes, one per hash. Requires: hashes are
// sorted.
std::vector<DataError::Origin> FindRecords(const DiffSet& set,
                                           const Hashes& hashes,
                                           std::size_t limit) {
  std::vector<DataError::Origin> places;
  std::vector<bool> found(hashes.size());
  BadRecords bad(true, BadRecords::Names::kSilent);
  PlacedRecords records(set, bad);
  limit = std::min(limit, hashes.size());
  while (places.size() < limit) {
    const std::optional<Record> record = records.Next();
    if (!record) {
      break;
    }
    const RecordHash hash = HashRecord(record->payload);
    auto at = std::lower_bound(hashes.begin(), hashes.end(), hash);
    while (at != hashes.end() && *at == hash && found[at - hashes.begin()]) {
      ++at;
    }
    if (at != hashes.end() && *at == hash) {
      found[at - hashes.begin()] = true;
      places.push_back(records.place());
    }
  }
  return places;
}

DiffReport DiffAsSets(const DiffSet& a, const DiffSet& b,
                      const DiffOptions& options, BadRecords& bad,
                      const std::function<void()>& on_record) {
  const Hashes in_a = HashSet(a, options, bad, on_record);
  const Hashes in_b = HashSet(b, options, bad, on_record);
  Hashes only_in_a;
  Hashes only_in_b;
  std::set_difference(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                      std::back_inserter(only_in_a));
  std::set_difference(in_b.begin(), in_b.end(), in_a.begin(), in_a.end(),
                      std::back_inserter(only_in_b));
  DiffReport report;
  report.records_a = std::ssize(in_a);
  report.records_b = std::ssize(in_b);
  report.differences =
      static_cast<std::int64_t>(only_in_a.size() + only_in_b.size());
  const auto limit = static_cast<std::size_t>(options.limit);
  for (DataError::Origin& place : FindRecords(a, only_in_a, limit)) {
    report.first.push_back({.a = std::move(place), .b = {}, .keys = {}});
  }
  for (DataError::Origin& place : FindRecords(b, only_in_b, limit)) {
    report.first.push_back({.a = {}, .b = std::move(place), .keys = {}});
  }
  return report;
}

}  // namespace

RecordHash HashRecord(std::span<const std::byte> payload) {
  Hasher hasher;
  try {
    const std::vector<ExampleFeature> features = ListFeatures(payload);
    hasher.Add(kExample);
    for (const ExampleFeature& feature : features) {
      hasher.Add(feature.key);
      hasher.Add(std::uint64_t{feature.values.index()});
      std::visit([&](const auto& values) { hasher.Add(values); },
                 feature.values);
    }
  } catch (const DataError&) {
    hasher.Add(kBytes);
    hasher.Add(AsChars(payload));
  }
  return hasher.hash();
}

std::vector<KeyDifference> CompareExamples(std::span<const std::byte> a,
                                           std::span<const std::byte> b) {
  using Kind = KeyDifference::Kind;
  const std::vector<ExampleFeature> in_a = ListFeatures(a);
  const std::vector<ExampleFeature> in_b = ListFeatures(b);
  std::vector<KeyDifference> keys;
  auto at_a = in_a.begin();
  auto at_b = in_b.begin();
  while (at_a != in_a.end() || at_b != in_b.end()) {
    if (at_b == in_b.end() || (at_a != in_a.end() && at_a->key < at_b->key)) {
      keys.push_back({std::string((at_a++)->key), Kind::kOnlyInA});
    } else if (at_a == in_a.end() || at_b->key < at_a->key) {
      keys.push_back({std::string((at_b++)->key), Kind::kOnlyInB});
    } else {
      if (!IsSame(*at_a, *at_b)) {
        keys.push_back({std::string(at_a->key), Kind::kOtherValues});
      }
      ++at_a;
      ++at_b;
    }
  }
  return keys;
}

DiffReport DiffRecords(const DiffSet& a, const DiffSet& b,
                       const DiffOptions& options,
                       const std::function<void()>& on_record) {
  BadRecords bad(options.skip_bad);
  DiffReport report = options.ordered
                          ? DiffInOrder(a, b, options, bad, on_record)
                          : DiffAsSets(a, b, options, bad, on_record);
  report.left_out = bad.count();
  return report;
}

}  // namespace infeed
