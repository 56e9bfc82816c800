#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/number_bytes.h"
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
//
// What is short is always inlined, so that a cursor stays in registers: storing
// it for a call, and loading it again, took longer than the rest.
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

  [[gnu::always_inline]] std::uint64_t TakeVarint() {
    if (at_ != end_ && *at_ < 0x80) {
      return *at_++;
    }
    const LongVarint taken = TakeLongVarint(at_, end_, error_);
    at_ = taken.end;
    return taken.value;
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
  [[gnu::always_inline]] std::span<const std::byte> TakeBytes() {
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
    const std::size_t count = std::min(left() / sizeof(Number), numbers.size());
    if (count == 0) {
      Fail();
    }
    std::memcpy(numbers.data(), at_, count * sizeof(Number));
    if constexpr (std::endian::native != std::endian::little) {
      for (Number& number : numbers.first(count)) {
        number = FromLittleEndian(number);
      }
    }
    at_ += count * sizeof(Number);
    return count;
  }

  // Skips the value of a tag; of a group, all up to its end.
  [[gnu::always_inline]] void Skip(std::uint32_t tag) {
    if (WireTypeOf(tag) == WireType::kBytes) {
      (void)TakeBytes();
    } else {
      at_ = AfterOther(at_, end_, error_, tag);
    }
  }

 private:
  WireCursor(const std::uint8_t* at, const std::uint8_t* end, const char* error)
      : at_(at), end_(end), error_(error) {}

  struct LongVarint {
    std::uint64_t value;
    const std::uint8_t* end;
  };

  // Not of a cursor: a loop's one stays in registers.
  [[nodiscard]] static LongVarint TakeLongVarint(const std::uint8_t* at,
                                                 const std::uint8_t* end,
                                                 const char* error);
  [[nodiscard]] static const std::uint8_t* AfterOther(const std::uint8_t* at,
                                                      const std::uint8_t* end,
                                                      const char* error,
                                                      std::uint32_t tag);
  void SkipGroup(std::uint32_t tag);

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
