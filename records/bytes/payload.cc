#include "records/bytes/payload.h"

#include <limits>

#include "base/number_bytes.h"
#include "records/bytes/little_endian.h"

namespace infeed {
namespace {

constexpr std::size_t kPayloadNumberBytes = 8;

}  // namespace

void AppendNumbers(std::string& out, std::span<const std::int64_t> numbers) {
  out.reserve(out.size() + numbers.size() * kPayloadNumberBytes);
  for (const std::int64_t number : numbers) {
    AppendLittleEndian(out, static_cast<std::uint64_t>(number),
                       kPayloadNumberBytes);
  }
}

std::optional<Numbers> ParseNumbers(std::string_view payload) {
  if (payload.size() % kPayloadNumberBytes != 0) {
    return std::nullopt;
  }
  const auto bytes = std::as_bytes(std::span(payload));
  Numbers numbers(payload.size() / kPayloadNumberBytes);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::int64_t>(
        LittleEndianAt(bytes, i * kPayloadNumberBytes, kPayloadNumberBytes));
  }
  return numbers;
}

void AppendSizedText(std::string& out, std::string_view text) {
  AppendVarint(text.size(), out);
  out.append(text);
}

std::uint64_t PayloadReader::Number() {
  constexpr int kBits = std::numeric_limits<std::uint64_t>::digits;
  std::uint64_t value = 0;
  for (int shift = 0; shift < kBits && !left_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  Fail();
  return 0;
}

std::int64_t PayloadReader::NumberUpTo(std::int64_t max) {
  const std::uint64_t number = Number();
  if (number > static_cast<std::uint64_t>(max)) {
    Fail();
    return 0;
  }
  return static_cast<std::int64_t>(number);
}

std::size_t PayloadReader::Count(std::size_t min_bytes) {
  const std::uint64_t count = Number();
  if (count > left_.size() / min_bytes) {
    Fail();
    return 0;
  }
  return count;
}

std::string_view PayloadReader::Text() {
  const std::uint64_t bytes = Number();
  if (bytes > left_.size()) {
    Fail();
    return {};
  }
  const std::string_view text = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return text;
}

void PayloadReader::Fail() {
  is_good_ = false;
  left_ = {};
}

}  // namespace infeed
