#include "records/byte_size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

#include "base/error.h"

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

}  // namespace

std::optional<std::int64_t> TryParseByteSize(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, count);
  std::string_view unit(last, static_cast<std::size_t>(end - last));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const auto* const found =
      std::ranges::find(kUnits, unit, [](const Unit& u) { return u.name; });
  if (error != std::errc{} || count <= 0 || found == kUnits.end() ||
      count > std::numeric_limits<std::int64_t>::max() / found->bytes) {
    return std::nullopt;
  }
  return count * found->bytes;
}

std::int64_t ParseByteSize(std::string_view text, std::string_view flag) {
  if (const std::optional<std::int64_t> bytes = TryParseByteSize(text)) {
    return *bytes;
  }
  throw UsageError(std::string(flag) + " " + std::string(text) +
                   ": give a size such as 128MB or 1GiB");
}

}  // namespace infeed
