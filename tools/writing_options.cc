#include "tools/writing_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <system_error>

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace infeed {
namespace {

struct ByteUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<ByteUnit, 8> kUnits = {{{"", 1},
                                             {"B", 1},
                                             {"kB", 1'000},
                                             {"MB", 1'000'000},
                                             {"GB", 1'000'000'000},
                                             {"KiB", std::int64_t{1} << 10},
                                             {"MiB", std::int64_t{1} << 20},
                                             {"GiB", std::int64_t{1} << 30}}};

}  // namespace

void AddWritingOptions(CLI::App* verb, WritingOptions& options,
                       const std::string& what) {
  verb->add_option("--output", options.output, what)->required();
  verb->add_flag("--overwrite", options.overwrite,
                 "replace what is there already");
  verb->add_flag("--dry_run", options.dry_run,
                 "only say what would be written");
  verb->add_option("--compression", options.compression,
                   "of the shards that are written")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Compression>{{"none", Compression::kNone},
                                             {"gzip", Compression::kGzip},
                                             {"zlib", Compression::kZlib}}))
      ->option_text("none|gzip|zlib=none");
}

void AddBadRecordOption(CLI::App* verb, bool& skip_bad) {
  verb->add_option("--on_bad_record", skip_bad,
                   "fail, or leave it out and count it")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, bool>{{"fail", false}, {"skip", true}}))
      ->option_text("fail|skip=fail");
}

std::int64_t ParseBytes(std::string_view text, std::string_view flag) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, count);
  std::string_view unit(last, static_cast<std::size_t>(end - last));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const auto* const found =
      std::find_if(kUnits.begin(), kUnits.end(),
                   [&](const ByteUnit& known) { return known.name == unit; });
  if (error != std::errc{} || count <= 0 || found == kUnits.end() ||
      count > std::numeric_limits<std::int64_t>::max() / found->bytes) {
    throw UsageError(std::string(flag) + " " + std::string(text) +
                     ": give a size such as 128MB or 1GiB");
  }
  return count * found->bytes;
}

}  // namespace infeed
