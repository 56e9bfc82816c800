#include "trainer/ranks/slurm_lists.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr int kMaxNodes = 1 << 20;

// The number that the text begins with, which is then cut off.
int TakeNumber(std::string_view& text, std::string_view list) {
  const auto number = TakePlainNumber<int>(text);
  if (!number || *number < 1 || *number > kMaxNodes) {
    throw UsageError(
        fmt::format("'{}': not a list of tasks as Slurm has it, "
                    "such as 3,2(x4)",
                    list));
  }
  return *number;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::string FirstSlurmHost(std::string_view nodes) {
  const std::string_view before = nodes.substr(0, nodes.find_first_of("[,"));
  std::string host(before);
  if (before.size() < nodes.size() && nodes[before.size()] == '[') {
    const std::string_view inside = nodes.substr(before.size() + 1);
    const std::size_t end = inside.find(']');
    host += inside.substr(0, inside.find_first_of("-,]"));
    if (end == std::string_view::npos || host.size() == before.size()) {
      host.clear();
    } else {
      const std::string_view after = inside.substr(end + 1);
      host += after.substr(0, after.find_first_of("[,"));
    }
  }
  if (host.empty()) {
    throw UsageError(fmt::format(
        "'{}': not a list of nodes as Slurm has it, such as node[01-03,7]",
        nodes));
  }
  return host;
}

std::vector<int> SlurmTasksOfNodes(std::string_view tasks) {
  std::vector<int> of_nodes;
  std::string_view rest = tasks;
  do {
    const int count = TakeNumber(rest, tasks);
    int nodes = 1;
    if (TakePrefix(rest, "(x")) {
      nodes = TakeNumber(rest, tasks);
      (void)TakePrefix(rest, ")");
    }
    of_nodes.insert(of_nodes.end(), static_cast<std::size_t>(nodes), count);
  } while (TakePrefix(rest, ","));
  return of_nodes;
}

}  // namespace infeed
