#include "tools/rewrite/record_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/example/reader.h"

namespace infeed {
namespace {

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
    hasher.Add(std::string_view(reinterpret_cast<const char*>(payload.data()),
                                payload.size()));
  }
  return hasher.hash();
}

}  // namespace infeed
