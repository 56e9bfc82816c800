#include "records/example/wire_cursor.h"

#include <vector>

namespace infeed {

WireCursor::LongVarint WireCursor::TakeLongVarint(const std::uint8_t* at,
                                                  const std::uint8_t* end,
                                                  const char* error) {
  constexpr int kWord = 8;
  // The bit that the last byte of a number lacks, in each byte.
  constexpr std::uint64_t kLastBytes = 0x8080808080808080;
  // Up to four bytes are read at once: a branch for each byte of token ids is
  // mostly foreseen wrongly.
  if (end - at >= kWord) {
    const auto word = LoadLittleEndian<std::uint64_t>(at);
    const std::uint64_t last = ~word & kLastBytes;
    if ((last & 0xFFFFFFFF) != 0) {
      const std::uint64_t number = word & (last ^ (last - 1));
      return {.value = (number & 0x7F) | ((number >> 1) & 0x3F80) |
                       ((number >> 2) & 0x1FC000) | ((number >> 3) & 0xFE00000),
              .end = at + (std::countr_zero(last) + 1) / 8};
    }
  }
  constexpr int kBits = 7;
  std::uint64_t bits = 0;
  for (int shift = 0; shift < 64 && at < end; shift += kBits) {
    const std::uint8_t byte = *at++;
    bits |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return {.value = bits, .end = at};
    }
  }
  throw DataError(error);
}

const std::uint8_t* WireCursor::AfterOther(const std::uint8_t* at,
                                           const std::uint8_t* end,
                                           const char* error,
                                           std::uint32_t tag) {
  WireCursor cursor(at, end, error);
  switch (WireTypeOf(tag)) {
    case WireType::kVarint:
      (void)cursor.TakeVarint();
      return cursor.at_;
    case WireType::kFixed64:
      cursor.Advance(sizeof(std::uint64_t));
      return cursor.at_;
    case WireType::kBytes:
      (void)cursor.TakeBytes();
      return cursor.at_;
    case WireType::kGroup:
      cursor.SkipGroup(tag);
      return cursor.at_;
    case WireType::kGroupEnd:  // It has not begun.
      break;
    case WireType::kFixed32:
      cursor.Advance(sizeof(std::uint32_t));
      return cursor.at_;
  }
  cursor.Fail();
}

void WireCursor::SkipGroup(std::uint32_t tag) {
  constexpr std::size_t kMostOpen = 100;  // protobuf's limit
  std::vector<std::uint32_t> open = {tag};
  while (!open.empty()) {
    const std::uint32_t next = TakeTag();
    if (WireTypeOf(next) == WireType::kGroup) {
      open.push_back(next);
      if (open.size() > kMostOpen) {
        Fail();
      }
    } else if (WireTypeOf(next) == WireType::kGroupEnd) {
      if (next >> 3 != open.back() >> 3) {  // another field's
        Fail();
      }
      open.pop_back();
    } else {
      Skip(next);
    }
  }
}

}  // namespace infeed
