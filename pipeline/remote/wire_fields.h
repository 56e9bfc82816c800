#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/number_bytes.h"
#include "records/bytes/little_endian.h"
#include "records/bytes/plain_text.h"
#include "records/example/wire_cursor.h"

// Messages in protobuf's wire format without protobuf's code, of which
// TensorFlow exports a version of its own into the whole process.
namespace infeed {

// A signed number as protobuf's sint32 has it: small ones take few bytes.
[[nodiscard]] constexpr std::uint32_t WireSint(std::int32_t number) {
  return static_cast<std::uint32_t>(number) << 1 ^
         static_cast<std::uint32_t>(number >> 31);
}

[[nodiscard]] constexpr std::int32_t NumberOfWireSint(std::uint32_t sint) {
  return static_cast<std::int32_t>(sint >> 1 ^ (0 - (sint & 1)));
}

// A number of a message in the type that it has here.
template <typename To, typename From>
[[nodiscard]] To NumberFrom(From value, const char* what) {
  if (!std::in_range<To>(value)) {
    throw DataError(std::string(what) + " is too large");
  }
  return static_cast<To>(value);
}

// Writes a message, field by field. As protobuf does, it leaves out a 0 and
// what is empty.
class WireWriter {
 public:
  void AddVarint(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      AppendVarint(WireTag(field, WireType::kVarint), message_);
      AppendVarint(value, message_);
    }
  }

  void AddFixed64(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      AppendVarint(WireTag(field, WireType::kFixed64), message_);
      AppendLittleEndian(message_, value, sizeof value);
    }
  }

  void AddBytes(std::uint32_t field, std::string_view bytes) {
    if (!bytes.empty()) {
      AddElement(field, bytes);
    }
  }

  // One of a list of bytes or messages, which may be empty.
  void AddElement(std::uint32_t field, std::string_view bytes) {
    AppendVarint(WireTag(field, WireType::kBytes), message_);
    AppendVarint(bytes.size(), message_);
    message_.append(bytes);
  }

  void AddVarints(std::uint32_t field,
                  const std::vector<std::uint32_t>& numbers) {
    std::string packed;
    for (const std::uint32_t number : numbers) {
      AppendVarint(number, packed);
    }
    AddBytes(field, packed);
  }

  void AddSints(std::uint32_t field, const std::vector<std::int32_t>& numbers) {
    std::string packed;
    for (const std::int32_t number : numbers) {
      AppendVarint(WireSint(number), packed);
    }
    AddBytes(field, packed);
  }

  // Numbers of 4 or 8 bytes.
  template <typename Number>
  void AddFixed(std::uint32_t field, const std::vector<Number>& numbers) {
    static_assert(std::endian::native == std::endian::little);
    AddBytes(field, AsChars(std::as_bytes(std::span(numbers))));
  }

  // Ends the writer's use.
  [[nodiscard]] std::string Take() { return std::move(message_); }

 private:
  std::string message_;
};

// The field after a tag. Each function takes its value if it has this number
// and type; else it returns false. Lists of numbers are packed (a block of
// them) or not (a tag each).
class WireField {
 public:
  WireField(std::uint32_t tag, WireCursor& cursor)
      : tag_(tag), cursor_(cursor) {}

  // Calls take(cursor).
  template <typename TakeValue>
  bool Take(std::uint32_t field, WireType type, TakeValue take) {
    if (tag_ != WireTag(field, type)) {
      return false;
    }
    take(cursor_);
    return true;
  }

  // As in protobuf, bits beyond the lowest 32 do not count.
  bool TakeUint32(std::uint32_t field, std::uint32_t& number) {
    return Take(field, WireType::kVarint, [&](WireCursor& from) {
      number = static_cast<std::uint32_t>(from.TakeVarint());
    });
  }
  bool TakeFixed64(std::uint32_t field, std::uint64_t& number) {
    return Take(field, WireType::kFixed64, [&](WireCursor& from) {
      number = from.TakeFixed<std::uint64_t>();
    });
  }
  bool TakeText(std::uint32_t field, std::string& text) {
    return Take(field, WireType::kBytes,
                [&](WireCursor& from) { text = AsChars(from.TakeBytes()); });
  }

  bool TakeVarints(std::uint32_t field, std::vector<std::uint32_t>& numbers) {
    return TakeNumbers(field, WireType::kVarint, [&](WireCursor& from) {
      numbers.push_back(static_cast<std::uint32_t>(from.TakeVarint()));
    });
  }
  bool TakeSints(std::uint32_t field, std::vector<std::int32_t>& numbers) {
    return TakeNumbers(field, WireType::kVarint, [&](WireCursor& from) {
      numbers.push_back(
          NumberOfWireSint(static_cast<std::uint32_t>(from.TakeVarint())));
    });
  }
  template <typename Number>
  bool TakeFixed(std::uint32_t field, std::vector<Number>& numbers) {
    constexpr WireType kOne =
        sizeof(Number) == 4 ? WireType::kFixed32 : WireType::kFixed64;
    return TakeNumbers(field, kOne, [&](WireCursor& from) {
      numbers.push_back(from.TakeFixed<Number>());
    });
  }

 private:
  template <typename TakeNumber>
  bool TakeNumbers(std::uint32_t field, WireType one, TakeNumber take) {
    return Take(field, one, take) ||
           Take(field, WireType::kBytes, [&](WireCursor& from) {
             WireCursor block = from.TakeMessage();
             while (!block.is_at_end()) {
               take(block);
             }
           });
  }

  std::uint32_t tag_;
  WireCursor& cursor_;
};

// As ForEachWireField(), with take(field).
template <typename TakeField>
void ForEachField(const WireCursor& message, const TakeField& take) {
  ForEachWireField(message, [&](std::uint32_t tag, WireCursor& cursor) {
    return take(WireField(tag, cursor));
  });
}

}  // namespace infeed
