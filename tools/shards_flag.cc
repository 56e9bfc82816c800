#include "tools/shards_flag.h"

#include <charconv>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "records/byte_size.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxNumber = 1'000'000;

}  // namespace

ShardsFlag ParseShards(const std::string& text) {
  if (text == "auto") {
    return {};
  }
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && last == end) {
    if (number > 0 && number <= kMaxNumber) {
      return {.shards = number};
    }
  } else if (const std::optional<std::int64_t> bytes = TryParseByteSize(text)) {
    return {.bytes = *bytes};
  }
  throw UsageError("--shards " + text +
                   ": give a number above 0, a size such as 256MB or 1GiB, "
                   "or auto");
}

}  // namespace infeed
