#include "bench/common/growth.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kSlackBytes = 8 * kMiB;

Holding Maximum(std::span<const Holding> holdings) {
  Holding most;
  for (const Holding& one : holdings) {
    most.bytes = std::max(most.bytes, one.bytes);
    most.descriptors = std::max(most.descriptors, one.descriptors);
    most.threads = std::max(most.threads, one.threads);
  }
  return most;
}

}  // namespace

std::string DescribeGrowth(std::span<const Holding> holdings) {
  Check(holdings.size() >= 8, "there are quarters to compare");
  const std::size_t quarter = holdings.size() / 4;
  const Holding before = Maximum(holdings.subspan(quarter, quarter));
  const Holding after = Maximum(holdings.last(quarter));
  std::string text;
  const auto add = [&text](std::string_view what, auto from, auto to,
                           std::string_view unit) {
    text += fmt::format("{}{} grew from {} to {}{}", text.empty() ? "" : "; ",
                        what, from, to, unit);
  };
  if (after.bytes > before.bytes + before.bytes / 8 + kSlackBytes) {
    add("memory", before.bytes / kMiB, after.bytes / kMiB, " MiB");
  }
  if (after.descriptors > before.descriptors) {
    add("open files", before.descriptors, after.descriptors, "");
  }
  if (after.threads > before.threads) {
    add("threads", before.threads, after.threads, "");
  }
  return text;
}

}  // namespace infeed
