#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/example/reader.h"
#include "records/example/wire_cursor.h"

// Walks through the bytes of a tf.train.Example. Templates, so that cursors
// stay in registers (wire_cursor.h), and numbers go where a sink wants them.
namespace infeed {

namespace example_walk {

using Bytes = std::span<const std::byte>;

inline constexpr std::uint32_t kFeatures = WireTag(1, WireType::kBytes);
inline constexpr std::uint32_t kEntry = WireTag(1, WireType::kBytes);
inline constexpr std::uint32_t kKey = WireTag(1, WireType::kBytes);
inline constexpr std::uint32_t kFeature = WireTag(2, WireType::kBytes);
inline constexpr std::uint32_t kBytesList = WireTag(1, WireType::kBytes);
inline constexpr std::uint32_t kFloatList = WireTag(2, WireType::kBytes);
inline constexpr std::uint32_t kInt64List = WireTag(3, WireType::kBytes);
inline constexpr std::uint32_t kValue = WireTag(1, WireType::kBytes);
inline constexpr std::uint32_t kPacked = WireTag(1, WireType::kBytes);
inline constexpr std::uint32_t kOneFloat = WireTag(1, WireType::kFixed32);
inline constexpr std::uint32_t kOneInt64 = WireTag(1, WireType::kVarint);

inline WireCursor CursorOf(Bytes message) {
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

inline void Take(WireCursor& cursor, float& number) {
  number = cursor.TakeFixed<float>();
}

inline void Take(WireCursor& cursor, std::int64_t& number) {
  number = static_cast<std::int64_t>(cursor.TakeVarint());
}

// Reads the next numbers of a block, as many as can be read at once; returns
// how many, perhaps none.
inline std::size_t TakeSome(WireCursor& cursor, std::span<float> numbers) {
  return numbers.empty() ? 0 : cursor.TakeFixedBlock(numbers);
}

inline std::size_t TakeSome(WireCursor& cursor,
                            std::span<std::int64_t> numbers) {
  return cursor.TakeVarints(numbers);
}

// Passes on the numbers of a block, which are read at once where they can be:
// to where the sink wants them, or to an array.
template <typename Number, typename Sink>
void AddBlock(Bytes block, Sink& sink) {
  constexpr std::size_t kMany = 128;
  WireCursor cursor = CursorOf(block);
  while (!cursor.is_at_end()) {
    std::size_t count = 0;
    if constexpr (requires { sink.room(Number{}); }) {
      count = TakeSome(cursor, sink.room(Number{}));
      sink.Added(count);
    } else {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): read as set.
      std::array<Number, kMany> numbers;
      count = TakeSome(cursor, std::span(numbers));
      for (std::size_t i = 0; i < count; ++i) {
        sink.Add(numbers[i]);
      }
    }
    if (count == 0) {
      Number number{};
      Take(cursor, number);
      sink.Add(number);
    }
  }
}

// Reads a list of numbers, packed (a block of them) or not (a tag each).
template <typename Number, typename Sink>
void ReadNumbers(Bytes list, std::uint32_t unpacked, Sink& sink) {
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
template <typename Sink>
bool ReadList(std::uint32_t tag, WireCursor& cursor, Sink& sink) {
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

}  // namespace example_walk

// Calls visit(key, entry) for each entry of the Example's map, in the order of
// the bytes. Skips unknown fields and does not parse the values. Throws
// DataError when the bytes cannot be parsed.
template <typename Visit>
void ForEachEntry(std::span<const std::byte> example, Visit visit) {
  if (example.size() > std::numeric_limits<int>::max()) {
    throw DataError("not a tf.train.Example: longer than 2 GiB");
  }
  example_walk::ForEachBytes(
      example, example_walk::kFeatures, [&](example_walk::Bytes features) {
        example_walk::ForEachBytes(
            features, example_walk::kEntry, [&](example_walk::Bytes entry) {
              std::string_view key;
              example_walk::ForEachBytes(
                  entry, example_walk::kKey,
                  [&](example_walk::Bytes text) { key = AsChars(text); });
              visit(key, entry);
            });
      });
}

// Passes an entry's values to a sink. Lists may be packed or not. Throws
// DataError when the entry cannot be parsed. A sink has
//
//   void Begin(FeatureKind);      A list begins. As in protobuf, a list of the
//                                 same kind continues the list before it; a
//                                 list of another kind replaces it.
//   void Add(std::string_view);   A value; also of float and std::int64_t.
//
// and may have, for float or std::int64_t,
//
//   std::span<Number> room(Number);  Where the next numbers may be written.
//   void Added(std::size_t);         As many were; what is behind them in room
//                                    may have been overwritten.
template <typename Sink>
void ReadValues(std::span<const std::byte> entry, Sink& sink) {
  example_walk::ForEachBytes(
      entry, example_walk::kFeature, [&](example_walk::Bytes feature) {
        ForEachWireField(example_walk::CursorOf(feature),
                         [&](std::uint32_t tag, WireCursor& cursor) {
                           return example_walk::ReadList(tag, cursor, sink);
                         });
      });
}

}  // namespace infeed
