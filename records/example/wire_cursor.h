#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/error.h"
#include "records/example/varint_block.h"

namespace infeed {

// How protobuf writes a value: the lowest three bits of its tag. 6 and 7 are
// none.
enum class WireType : std::uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroup = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

[[nodiscard]] constexpr std::uint32_t WireTag(std::uint32_t field,
                                              WireType type) {
  return field << 3 | static_cast<std::uint32_t>(type);
}

[[nodiscard]] constexpr WireType WireTypeOf(std::uint32_t tag) {
  return static_cast<WireType>(tag & 7);
}

// The rest of a message in protobuf's wire format, as a view of its bytes. In
// place of protobuf's stream, which is slow to make, and would be made for each
// of the four levels of each feature of an Example.
class WireCursor {
 public:
  // error: the text of the DataError for what is no message. Keeps it.
  WireCursor(std::span<const std::byte> message, const char* error)
      : at_(reinterpret_cast<const std::uint8_t*>(message.data())),
        end_(at_ + message.size()),
        error_(error) {}

  [[nodiscard]] bool is_at_end() const { return at_ == end_; }

  // As in protobuf, bits beyond the lowest 32 do not count.
  std::uint32_t TakeTag() {
    const auto tag = static_cast<std::uint32_t>(TakeVarint());
    if (tag < WireTag(1, WireType::kVarint)) {
      Fail();
    }
    return tag;
  }

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
    Fail();
  }

  // Reads the next numbers, as many as ReadVarints() does; returns how many.
  std::size_t TakeVarints(std::span<std::int64_t> numbers) {
    if (left() < kVarintsBytes) {
      return 0;
    }
    const VarintsRead read =
        ReadVarints(std::as_bytes(std::span(at_, end_)), numbers);
    at_ += read.bytes;
    return read.numbers;
  }

  // Reads a length and returns a view of that many bytes.
  std::span<const std::byte> TakeBytes() {
    const std::uint64_t length = TakeVarint();
    const std::uint8_t* const begin = at_;
    Advance(length);
    return std::as_bytes(std::span(begin, at_));
  }

  // A message, or a packed list, within this one.
  WireCursor TakeMessage() { return {TakeBytes(), error_}; }

  // Reads a number of 4 or 8 bytes.
  template <typename Number>
  Number TakeFixed() {
    Number number{};
    (void)TakeFixedBlock(std::span(&number, 1));
    return number;
  }

  // Reads the next such numbers, as many as there are and have room; returns
  // how many, at least one.
  template <typename Number>
  std::size_t TakeFixedBlock(std::span<Number> numbers) {
    static_assert(std::endian::native == std::endian::little);
    const std::size_t count = std::min(left() / sizeof(Number), numbers.size());
    if (count == 0) {
      Fail();
    }
    std::memcpy(numbers.data(), at_, count * sizeof(Number));
    at_ += count * sizeof(Number);
    return count;
  }

  // Skips the value of a tag; of a group, all up to its end.
  void Skip(std::uint32_t tag) {
    switch (WireTypeOf(tag)) {
      case WireType::kVarint:
        (void)TakeVarint();
        return;
      case WireType::kFixed64:
        return Advance(sizeof(std::uint64_t));
      case WireType::kBytes:
        (void)TakeBytes();
        return;
      case WireType::kGroup:
        *this = AfterGroup(*this, tag);
        return;
      case WireType::kGroupEnd:  // It has not begun.
        break;
      case WireType::kFixed32:
        return Advance(sizeof(std::uint32_t));
    }
    Fail();
  }

 private:
  static constexpr int kWord = 8;
  // The bit that the last byte of a number lacks, in each byte.
  static constexpr std::uint64_t kLastBytes = 0x8080808080808080;

  // By value, so that a loop's cursor stays in registers.
  [[nodiscard]] static WireCursor AfterGroup(WireCursor cursor,
                                             std::uint32_t tag);

  [[noreturn]] void Fail() const { throw DataError(error_); }

  [[nodiscard]] std::size_t left() const {
    return static_cast<std::size_t>(end_ - at_);
  }

  void Advance(std::uint64_t bytes) {
    if (bytes > left()) {
      Fail();
    }
    at_ += bytes;
  }

  // The next eight bytes, the first one lowest; they stay.
  [[nodiscard]] std::uint64_t PeekWord() const {
    std::uint64_t word = 0;
    std::memcpy(&word, at_, kWord);
    return word;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const char* error_;
};

// Calls take(tag, cursor) for each field of a message. take returns false for
// an unknown field, which is then skipped.
template <typename Take>
void ForEachWireField(WireCursor cursor, Take take) {
  while (!cursor.is_at_end()) {
    const std::uint32_t tag = cursor.TakeTag();
    if (!take(tag, cursor)) {
      cursor.Skip(tag);
    }
  }
}

}  // namespace infeed
