#include "tools/convert/shards_flag.h"

#include <optional>

#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxNumber = 1'000'000;

}  // namespace

ShardsFlag ParseShards(const std::string& text) {
  if (text == "auto") {
    return {};
  }
  if (const auto number = ParseWholeNumber<std::int64_t>(text)) {
    if (*number > 0 && *number <= kMaxNumber) {
      return {.shards = *number};
    }
  } else if (const std::optional<std::int64_t> bytes = TryParseByteSize(text)) {
    return {.bytes = *bytes};
  }
  throw UsageError("--shards " + text +
                   ": give a number above 0, a size such as 256MB or 1GiB, "
                   "or auto");
}

}  // namespace infeed
