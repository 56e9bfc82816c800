#include "records/archives/tar_writer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "records/archives/tar_member.h"

namespace infeed {
namespace {

// The largest value of the size field: eleven octal digits.
constexpr std::uint64_t kMaxFieldSize = (std::uint64_t{1} << 33) - 1;

using HeaderBlock = std::array<char, kTarBlockBytes>;

struct HeaderFields {
  std::string_view prefix = {};
  std::string_view name = {};
  std::uint64_t bytes = 0;
  unsigned mode = 0644;
  char type = '0';
};

// Requires: the text fits the field.
void PutText(std::string_view text, TarField field, HeaderBlock& header) {
  std::ranges::copy(text, header.begin() + field.begin);
}

// Octal digits and a NUL. Requires: the number fits the digits.
void PutNumber(std::uint64_t number, TarField field, HeaderBlock& header) {
  for (std::size_t i = field.bytes - 1; i-- > 0; number >>= 3) {
    header[field.begin + i] = static_cast<char>('0' + (number & 7));
  }
}

HeaderBlock MakeHeader(const HeaderFields& fields) {
  HeaderBlock header{};
  PutText(fields.name, kTarName, header);
  PutNumber(fields.mode, kTarMode, header);
  PutNumber(0, kTarOwner, header);
  PutNumber(0, kTarGroup, header);
  PutNumber(fields.bytes, kTarSize, header);
  PutNumber(0, kTarTime, header);
  PutText({&fields.type, 1}, kTarType, header);
  PutText(std::string_view("ustar\00000", 8), kTarMagic, header);
  PutText(fields.prefix, kTarPrefix, header);
  const std::int64_t sum = TarChecksum(std::as_bytes(std::span(header)));
  // Six digits, a NUL and a blank, unlike the other numbers.
  PutNumber(static_cast<std::uint64_t>(sum),
            {kTarChecksum.begin, kTarChecksum.bytes - 1}, header);
  header[kTarChecksum.begin + kTarChecksum.bytes - 1] = ' ';
  return header;
}

// Splits a name at the first slash that lets both parts fit their fields, or
// not at all if it fits as a whole. nullopt: it does not fit.
std::optional<HeaderFields> SplitForHeader(std::string_view name) {
  if (name.size() <= kTarName.bytes) {
    return HeaderFields{.name = name};
  }
  for (std::size_t slash = name.find('/');
       slash <= kTarPrefix.bytes && slash + 1 < name.size();
       slash = name.find('/', slash + 1)) {
    if (slash > 0 && name.size() - slash - 1 <= kTarName.bytes) {
      return HeaderFields{.prefix = name.substr(0, slash),
                          .name = name.substr(slash + 1)};
    }
  }
  return std::nullopt;
}

// "LENGTH KEY=VALUE\n", where the length counts its own digits, too.
std::string PaxRecord(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest > length) {
    ++length;
  }
  std::string record = std::to_string(length);
  return record.append(" ").append(key).append("=").append(value).append("\n");
}

void CheckTarName(std::string_view name) {
  if (name.empty() || name.size() > kMaxTarNameBytes || TarNameLeadsOut(name) ||
      name.ends_with('/') || name.find('\0') != std::string_view::npos) {
    throw DataError("\"" + TarNameForMessages(name) +
                    "\" cannot be the name of a file in a tar");
  }
}

}  // namespace

void TarWriter::Add(std::string_view name, std::span<const std::byte> bytes) {
  CheckTarName(name);
  std::optional<HeaderFields> fields = SplitForHeader(name);
  std::string records;
  if (!fields) {
    records += PaxRecord("path", name);
    fields = HeaderFields{.name = name.substr(0, kTarName.bytes)};
  }
  if (bytes.size() <= kMaxFieldSize) {
    fields->bytes = bytes.size();
  } else {
    records += PaxRecord("size", std::to_string(bytes.size()));
  }
  if (!records.empty()) {
    const HeaderBlock header = MakeHeader({.name = "././@PaxHeader",
                                           .bytes = records.size(),
                                           .mode = 0,
                                           .type = 'x'});
    sink_.Write(std::as_bytes(std::span(header)));
    WritePadded(std::as_bytes(std::span(records)));
  }
  const HeaderBlock header = MakeHeader(*fields);
  sink_.Write(std::as_bytes(std::span(header)));
  WritePadded(bytes);
}

void TarWriter::Finish() {
  constexpr std::array<std::byte, 2 * kTarBlockBytes> kEnd{};
  sink_.Write(kEnd);
}

void TarWriter::WritePadded(std::span<const std::byte> bytes) {
  constexpr std::array<std::byte, kTarBlockBytes> kZeros{};
  const auto size = static_cast<std::int64_t>(bytes.size());
  sink_.Write(bytes);
  sink_.Write(std::span(kZeros).first(
      static_cast<std::size_t>(TarPadded(size) - size)));
}

}  // namespace infeed
