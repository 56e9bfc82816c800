#pragma once

#include <string>
#include <string_view>
#include <vector>

// The lists in which Slurm tells of its nodes.
namespace infeed {

// "node[01-03,7],other" -> node01. Throws UsageError for what is no such list.
[[nodiscard]] std::string FirstSlurmHost(std::string_view nodes);

// "3,2(x4)" -> {3, 2, 2, 2, 2}: tasks of each node. Throws UsageError.
[[nodiscard]] std::vector<int> SlurmTasksOfNodes(std::string_view tasks);

}  // namespace infeed
