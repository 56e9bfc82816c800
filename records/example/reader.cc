#include "records/example/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/example/wire_cursor.h"

namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kFeatures = WireTag(1, WireType::kBytes);
constexpr std::uint32_t kFeatureLists = WireTag(2, WireType::kBytes);
constexpr std::uint32_t kEntry = WireTag(1, WireType::kBytes);
constexpr std::uint32_t kKey = WireTag(1, WireType::kBytes);
constexpr std::uint32_t kFeature = WireTag(2, WireType::kBytes);
constexpr std::uint32_t kBytesList = WireTag(1, WireType::kBytes);
constexpr std::uint32_t kFloatList = WireTag(2, WireType::kBytes);
constexpr std::uint32_t kInt64List = WireTag(3, WireType::kBytes);
constexpr std::uint32_t kValue = WireTag(1, WireType::kBytes);
constexpr std::uint32_t kPacked = WireTag(1, WireType::kBytes);
constexpr std::uint32_t kOneFloat = WireTag(1, WireType::kFixed32);
constexpr std::uint32_t kOneInt64 = WireTag(1, WireType::kVarint);

WireCursor CursorOf(Bytes message) {
  return {message, "not a tf.train.Example: its bytes cannot be parsed"};
}

// Calls visit(bytes) for each field of a message that has this tag.
template <typename Visit>
void ForEachBytes(Bytes message, std::uint32_t wanted, Visit visit) {
  ForEachWireField(CursorOf(message),
                   [&](std::uint32_t tag, WireCursor& cursor) {
                     if (tag == wanted) {
                       visit(cursor.TakeBytes());
                     }
                     return tag == wanted;
                   });
}

void Take(WireCursor& cursor, float& number) {
  number = cursor.TakeFixed<float>();
}

void Take(WireCursor& cursor, std::int64_t& number) {
  number = static_cast<std::int64_t>(cursor.TakeVarint());
}

// Numbers of a block for which there is room when some are read.
constexpr std::size_t kSome = 8;

// Read numbers of a block, at least one; return how many. Requires: room for
// kSome.
std::size_t TakeSome(WireCursor& cursor, std::span<float> numbers) {
  return cursor.TakeFixedBlock(numbers);
}

std::size_t TakeSome(WireCursor& cursor, std::span<std::int64_t> numbers) {
  if (const std::size_t count = cursor.TakeVarints(numbers); count > 0) {
    return count;
  }
  std::size_t count = 0;  // Long numbers come next, or the last ones.
  while (count < kSome && !cursor.is_at_end()) {
    Take(cursor, numbers[count++]);
  }
  return count;
}

// Passes on a block's numbers, many at a time: a call for each made records of
// token ids a third slower.
template <typename Number>
void AddBlock(Bytes block, FeatureSink& sink) {
  constexpr std::size_t kMany = 128;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): read as far as set.
  std::array<Number, kMany> numbers;
  WireCursor cursor = CursorOf(block);
  while (!cursor.is_at_end()) {
    std::size_t count = 0;
    while (count + kSome <= kMany && !cursor.is_at_end()) {
      count += TakeSome(cursor, std::span(numbers).subspan(count));
    }
    sink.AddAll(std::span<const Number>(numbers).first(count));
  }
}

// Reads a list of numbers, packed (a block of them) or not (a tag each).
template <typename Number>
void ReadNumbers(Bytes list, std::uint32_t unpacked, FeatureSink& sink) {
  ForEachWireField(CursorOf(list), [&](std::uint32_t tag, WireCursor& cursor) {
    if (tag == unpacked) {
      Number number{};
      Take(cursor, number);
      sink.Add(number);
    } else if (tag == kPacked) {
      AddBlock<Number>(cursor.TakeBytes(), sink);
    }
    return tag == unpacked || tag == kPacked;
  });
}

// Reads the list that follows a Feature's tag; false if the tag is not a
// list's.
bool ReadList(std::uint32_t tag, WireCursor& cursor, FeatureSink& sink) {
  switch (tag) {
    case kBytesList:
      sink.Begin(FeatureKind::kBytes);
      ForEachBytes(cursor.TakeBytes(), kValue,
                   [&](Bytes value) { sink.Add(AsChars(value)); });
      return true;
    case kFloatList:
      sink.Begin(FeatureKind::kFloat);
      ReadNumbers<float>(cursor.TakeBytes(), kOneFloat, sink);
      return true;
    case kInt64List:
      sink.Begin(FeatureKind::kInt64);
      ReadNumbers<std::int64_t>(cursor.TakeBytes(), kOneInt64, sink);
      return true;
    default:  // A tag may be any number.
      return false;
  }
}

// Keeps all values of a feature.
class AllValues final : public FeatureSink {
 public:
  explicit AllValues(ExampleFeature& feature) : feature_(feature) {}

  void Begin(FeatureKind kind) override {
    switch (kind) {
      case FeatureKind::kNone:
        break;
      case FeatureKind::kBytes:
        return BeginListOf<std::string_view>();
      case FeatureKind::kFloat:
        return BeginListOf<float>();
      case FeatureKind::kInt64:
        return BeginListOf<std::int64_t>();
    }
  }
  void Add(std::string_view value) override { Append(value); }
  void Add(float value) override { Append(value); }
  void Add(std::int64_t value) override { Append(value); }

 private:
  template <typename T>
  void BeginListOf() {
    if (!std::holds_alternative<std::vector<T>>(feature_.values)) {
      feature_.values = std::vector<T>();
    }
  }
  template <typename T>
  void Append(T value) {
    std::get<std::vector<T>>(feature_.values).push_back(value);
  }

  ExampleFeature& feature_;
};

}  // namespace

std::string_view FeatureKindName(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kNone:
      break;
    case FeatureKind::kBytes:
      return "bytes";
    case FeatureKind::kFloat:
      return "float";
    case FeatureKind::kInt64:
      return "int64";
  }
  return "nothing";
}

void FeatureSink::AddAll(std::span<const float> values) {
  for (const float value : values) {
    Add(value);
  }
}

void FeatureSink::AddAll(std::span<const std::int64_t> values) {
  for (const std::int64_t value : values) {
    Add(value);
  }
}

void ForEachEntry(
    std::span<const std::byte> example,
    const std::function<void(std::string_view key,
                             std::span<const std::byte> entry)>& visit) {
  if (example.size() > std::numeric_limits<int>::max()) {
    throw DataError("not a tf.train.Example: longer than 2 GiB");
  }
  ForEachBytes(example, kFeatures, [&](Bytes features) {
    ForEachBytes(features, kEntry, [&](Bytes entry) {
      std::string_view key;
      ForEachBytes(entry, kKey, [&](Bytes text) { key = AsChars(text); });
      visit(key, entry);
    });
  });
}

std::set<std::string_view> FeatureListKeys(std::span<const std::byte> example) {
  std::set<std::string_view> keys;
  try {
    ForEachBytes(example, kFeatureLists, [&](Bytes lists) {
      ForEachBytes(lists, kEntry, [&](Bytes entry) {
        ForEachBytes(entry, kKey,
                     [&](Bytes text) { keys.insert(AsChars(text)); });
      });
    });
  } catch (const DataError&) {  // An unknown field of an Example.
    keys.clear();
  }
  return keys;
}

void ReadValues(std::span<const std::byte> entry, FeatureSink& sink) {
  ForEachBytes(entry, kFeature, [&](Bytes feature) {
    ForEachWireField(CursorOf(feature),
                     [&](std::uint32_t tag, WireCursor& cursor) {
                       return ReadList(tag, cursor, sink);
                     });
  });
}

std::vector<ExampleFeature> ListFeatures(std::span<const std::byte> example,
                                         int* unreadable) {
  std::map<std::string_view, Bytes> entries;
  ForEachEntry(example, [&](std::string_view key, Bytes entry) {
    entries[key] = entry;
  });
  std::vector<ExampleFeature> features;
  for (const auto& [key, entry] : entries) {
    features.push_back({.key = key, .values = {}});
    AllValues values(features.back());
    try {
      ReadValues(entry, values);
    } catch (const DataError&) {
      if (unreadable == nullptr) {
        throw;
      }
      features.pop_back();
      ++*unreadable;
    }
  }
  return features;
}

}  // namespace infeed
