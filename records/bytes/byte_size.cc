#include "records/bytes/byte_size.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <span>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::int64_t kKilo = 1000;
constexpr std::int64_t kKibi = 1024;
constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                          {"B", 1},
                                          {"kB", kKilo},
                                          {"MB", kKilo* kKilo},
                                          {"GB", kKilo* kKilo* kKilo},
                                          {"TB", kKilo* kKilo* kKilo* kKilo},
                                          {"KiB", kKibi},
                                          {"MiB", kKibi* kKibi},
                                          {"GiB", kKibi* kKibi* kKibi},
                                          {"TiB", kKibi* kKibi* kKibi* kKibi}}};

// Prints bytes in the largest unit that gives at least 1; `names` are the units
// of the powers of `base`.
std::string Rounded(std::int64_t bytes, int base,
                    std::span<const char* const> names) {
  constexpr double kRoundsUp = 999.95;  // to 1000.0, or to 1.0 of the next unit
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; unit + 1 < names.size() && value >= kRoundsUp; ++unit) {
    value /= base;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit > 0 ? "%.1f %s" : "%.0f %s",
                value, names[unit]);
  return text.data();
}

}  // namespace

std::optional<std::int64_t> TryParseByteSize(std::string_view text) {
  const auto count = TakeWholeNumber<std::int64_t>(text);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto* const found =
      std::ranges::find(kUnits, text, [](const Unit& u) { return u.name; });
  if (!count || *count <= 0 || found == kUnits.end() ||
      *count > std::numeric_limits<std::int64_t>::max() / found->bytes) {
    return std::nullopt;
  }
  return *count * found->bytes;
}

std::int64_t ParseByteSize(std::string_view text, std::string_view flag) {
  if (const std::optional<std::int64_t> bytes = TryParseByteSize(text)) {
    return *bytes;
  }
  throw UsageError(std::string(flag) + " " + std::string(text) +
                   ": give a size such as 128MB or 1GiB");
}

std::string FileSizeText(std::int64_t bytes) {
  constexpr std::array kNames = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  return Rounded(bytes, kKilo, kNames);
}

std::string MemorySizeText(std::int64_t bytes) {
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return Rounded(bytes, kKibi, kNames);
}

}  // namespace infeed
