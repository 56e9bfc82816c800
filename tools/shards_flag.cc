#include "tools/shards_flag.h"

#include <array>
#include <charconv>
#include <string_view>
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
constexpr std::array<Unit, 8> kUnits = {{{"kB", kKilo},
                                         {"MB", kKilo* kKilo},
                                         {"GB", kKilo* kKilo* kKilo},
                                         {"TB", kKilo* kKilo* kKilo* kKilo},
                                         {"KiB", kKibi},
                                         {"MiB", kKibi* kKibi},
                                         {"GiB", kKibi* kKibi* kKibi},
                                         {"TiB", kKibi* kKibi* kKibi* kKibi}}};
constexpr std::int64_t kMaxNumber = 1'000'000;

}  // namespace

ShardsFlag ParseShards(const std::string& text) {
  if (text == "auto") {
    return {};
  }
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && number > 0 && number <= kMaxNumber) {
    const std::string_view unit(last, end);
    if (unit.empty()) {
      return {.shards = number};
    }
    for (const Unit& known : kUnits) {
      if (unit == known.name) {
        return {.bytes = number * known.bytes};
      }
    }
  }
  throw UsageError("--shards " + text +
                   ": give a number above 0, a size such as 256MB or 1GiB, "
                   "or auto");
}

}  // namespace infeed
