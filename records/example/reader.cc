#include "records/example/reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/example/varint_block.h"

namespace infeed {
namespace {

using ::google::protobuf::internal::WireFormatLite;
using ::google::protobuf::io::CodedInputStream;
using Bytes = std::span<const std::byte>;

constexpr std::uint32_t Tag(int field, WireFormatLite::WireType type) {
  return static_cast<std::uint32_t>(field) << 3 |
         static_cast<std::uint32_t>(type);
}

constexpr auto kLengthDelimited = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
constexpr std::uint32_t kFeatures = Tag(1, kLengthDelimited);
constexpr std::uint32_t kFeatureLists = Tag(2, kLengthDelimited);
constexpr std::uint32_t kEntry = Tag(1, kLengthDelimited);
constexpr std::uint32_t kKey = Tag(1, kLengthDelimited);
constexpr std::uint32_t kFeature = Tag(2, kLengthDelimited);
constexpr std::uint32_t kBytesList = Tag(1, kLengthDelimited);
constexpr std::uint32_t kFloatList = Tag(2, kLengthDelimited);
constexpr std::uint32_t kInt64List = Tag(3, kLengthDelimited);
constexpr std::uint32_t kValue = Tag(1, kLengthDelimited);
constexpr std::uint32_t kPacked = Tag(1, kLengthDelimited);
constexpr std::uint32_t kOneFloat = Tag(1, WireFormatLite::WIRETYPE_FIXED32);
constexpr std::uint32_t kOneInt64 = Tag(1, WireFormatLite::WIRETYPE_VARINT);

[[noreturn]] void FailToParse() {
  throw DataError("not a tf.train.Example: its bytes cannot be parsed");
}

// The rest of a message; in place of protobuf's stream, which is slow to make,
// and would be made for each of the four levels of each feature.
class Cursor {
 public:
  explicit Cursor(Bytes message)
      : at_(reinterpret_cast<const std::uint8_t*>(message.data())),
        end_(at_ + message.size()) {}

  [[nodiscard]] bool is_at_end() const { return at_ == end_; }

  std::uint64_t TakeVarint() {
    if (at_ != end_ && *at_ < 0x80) {
      return *at_++;
    }
    // Up to four bytes are read at once: a branch for each byte of token ids is
    // mostly foreseen wrongly.
    if (end_ - at_ >= kWord) {
      const std::uint64_t word = PeekWord();
      const std::uint64_t last = ~word & kLastBytes;
      if ((last & 0xFFFFFFFF) != 0) {
        const std::uint64_t number = word & (last ^ (last - 1));
        at_ += (std::countr_zero(last) + 1) / 8;
        return (number & 0x7F) | ((number >> 1) & 0x3F80) |
               ((number >> 2) & 0x1FC000) | ((number >> 3) & 0xFE00000);
      }
    }
    constexpr int kBits = 7;
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 64 && at_ < end_; shift += kBits) {
      const std::uint8_t byte = *at_++;
      bits |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return bits;
      }
    }
    FailToParse();
  }

  // Reads the next numbers, as many as ReadVarints() does; returns how many.
  std::size_t TakeVarints(std::span<std::int64_t> numbers) {
    if (static_cast<std::size_t>(end_ - at_) < kVarintsBytes) {
      return 0;
    }
    const VarintsRead read =
        ReadVarints(std::as_bytes(std::span(at_, end_)), numbers);
    at_ += read.bytes;
    return read.numbers;
  }

  // Reads a length and returns a view of that many bytes.
  Bytes TakeBytes() {
    const std::uint64_t length = TakeVarint();
    if (length > static_cast<std::uint64_t>(end_ - at_)) {
      FailToParse();
    }
    const std::uint8_t* const begin = at_;
    at_ += length;
    return std::as_bytes(std::span(begin, at_));
  }

  float TakeFloat() {
    float number = 0;
    (void)TakeFloats(std::span(&number, 1));
    return number;
  }

  // Reads the next numbers, as many as there are and have room; returns how
  // many.
  std::size_t TakeFloats(std::span<float> numbers) {
    static_assert(std::endian::native == std::endian::little);
    const auto left = static_cast<std::size_t>(end_ - at_) / sizeof(float);
    const std::size_t count = std::min(left, numbers.size());
    if (count == 0) {
      FailToParse();
    }
    std::memcpy(numbers.data(), at_, count * sizeof(float));
    at_ += count * sizeof(float);
    return count;
  }

  // Skips the field of a tag.
  void Skip(std::uint32_t tag) {
    if (WireFormatLite::GetTagWireType(tag) == kLengthDelimited &&
        WireFormatLite::GetTagFieldNumber(tag) != 0) {
      TakeBytes();
      return;
    }
    CodedInputStream stream(at_, static_cast<int>(end_ - at_));
    if (!WireFormatLite::SkipField(&stream, tag)) {
      FailToParse();
    }
    at_ += stream.CurrentPosition();
  }

 private:
  static constexpr int kWord = 8;
  // The bit that the last byte of a number lacks, in each byte.
  static constexpr std::uint64_t kLastBytes = 0x8080808080808080;

  // The next eight bytes, the first one lowest; they stay.
  [[nodiscard]] std::uint64_t PeekWord() const {
    std::uint64_t word = 0;
    std::memcpy(&word, at_, kWord);
    return word;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// Calls take(tag, cursor) for each field of a message. take returns false for
// an unknown field, which is then skipped.
template <typename Take>
void ForEachField(Bytes message, Take take) {
  Cursor cursor(message);
  while (!cursor.is_at_end()) {
    const auto tag = static_cast<std::uint32_t>(cursor.TakeVarint());
    if (tag == 0) {
      FailToParse();
    }
    if (!take(tag, cursor)) {
      cursor.Skip(tag);
    }
  }
}

// Calls visit(bytes) for each field of a message that has this tag.
template <typename Visit>
void ForEachBytes(Bytes message, std::uint32_t wanted, Visit visit) {
  ForEachField(message, [&](std::uint32_t tag, Cursor& cursor) {
    if (tag == wanted) {
      visit(cursor.TakeBytes());
    }
    return tag == wanted;
  });
}

void Take(Cursor& cursor, float& number) { number = cursor.TakeFloat(); }

void Take(Cursor& cursor, std::int64_t& number) {
  number = static_cast<std::int64_t>(cursor.TakeVarint());
}

// Numbers of a block for which there is room when some are read.
constexpr std::size_t kSome = 8;

// Read numbers of a block, at least one; return how many. Requires: room for
// kSome.
std::size_t TakeSome(Cursor& cursor, std::span<float> numbers) {
  return cursor.TakeFloats(numbers);
}

std::size_t TakeSome(Cursor& cursor, std::span<std::int64_t> numbers) {
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
  Cursor cursor(block);
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
  ForEachField(list, [&](std::uint32_t tag, Cursor& cursor) {
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
bool ReadList(std::uint32_t tag, Cursor& cursor, FeatureSink& sink) {
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
    ForEachField(feature, [&](std::uint32_t tag, Cursor& cursor) {
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
