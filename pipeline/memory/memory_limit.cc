#include "pipeline/memory/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr int kWhole = 100;  // per cent
constexpr std::int64_t kKibi = 1024;

// Returns the number in a file; nullopt: no file, or "max" (no limit).
std::optional<std::int64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// The file names of one control-group version in a group's folder.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // line of memory.stat: page cache
};
constexpr GroupFiles kVersion1 = {.limit = "memory.limit_in_bytes",
                                  .usage = "memory.usage_in_bytes",
                                  .reclaimable = "total_inactive_file"};
constexpr GroupFiles kVersion2 = {.limit = "memory.max",
                                  .usage = "memory.current",
                                  .reclaimable = "inactive_file"};

// The number after a word that begins a line, or follows white space.
std::int64_t NumberAfter(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  for (std::string name; file >> name;) {
    std::int64_t number = 0;
    if (name == word && file >> number) {
      return number;
    }
  }
  return 0;
}

// The bytes that a group may have, or with `still` the bytes that it may yet
// take; nullopt: no limit.
std::optional<std::int64_t> BytesOfGroup(const std::string& folder,
                                         const GroupFiles& files, bool still) {
  const std::optional<std::int64_t> limit = NumberIn(folder + files.limit);
  if (!limit || !still) {
    return limit;
  }
  const std::int64_t taken =
      NumberIn(folder + files.usage).value_or(0) -
      NumberAfter(folder + "memory.stat", files.reclaimable);
  return *limit - std::max<std::int64_t>(0, taken);
}

// The smallest value of a group and its ancestors. In a container the group's
// path may be the path outside the container: a missing folder means no limit.
std::int64_t LeastOfGroups(const std::string& mount, std::string group,
                           const GroupFiles& files, bool still,
                           std::int64_t least) {
  while (true) {
    if (const auto bytes = BytesOfGroup(mount + group + "/", files, still)) {
      least = std::min(least, *bytes);
    }
    if (group.empty()) {
      return least;
    }
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

// Lines of /proc/self/cgroup are "number:controllers:path", of version 2
// "0::path".
std::int64_t LeastOfGroups(const std::string& root, bool still,
                           std::int64_t least) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      least = LeastOfGroups(root + "/sys/fs/cgroup", group, kVersion2, still,
                            least);
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = LeastOfGroups(root + "/sys/fs/cgroup/memory", group, kVersion1,
                            still, least);
    }
  }
  return least;
}

// A line of /proc/meminfo, in bytes.
std::int64_t MemoryLine(const std::string& root, std::string_view name) {
  const std::string path = root + "/proc/meminfo";
  const std::int64_t kibibytes = NumberAfter(path, name);
  if (kibibytes == 0) {
    throw IoError(path + ": does not say how much memory there is");
  }
  return kibibytes * kKibi;
}

// Returns the number before "%", from 1 to 100; nullopt: not such a number.
std::optional<int> ParsePercent(std::string_view text) {
  const std::optional<int> percent = TakeWholeNumber<int>(text);
  const bool is_percent =
      percent && text == "%" && *percent >= 1 && *percent <= kWhole;
  return is_percent ? percent : std::nullopt;
}

}  // namespace

std::int64_t MachineMemory(const std::string& root) {
  return LeastOfGroups(root, /*still=*/false, MemoryLine(root, "MemTotal:"));
}

std::int64_t AvailableMemory(const std::string& root) {
  return std::max<std::int64_t>(
      0,
      LeastOfGroups(root, /*still=*/true, MemoryLine(root, "MemAvailable:")));
}

std::int64_t PeakRssBytes() {
  // getrusage() is second choice: its figure includes the program that started
  // this one.
  const std::int64_t own = NumberAfter("/proc/self/status", "VmHWM:");
  if (own > 0) {
    return own * kKibi;
  }
  rusage usage{};
  Check(::getrusage(RUSAGE_SELF, &usage) == 0, "a process knows its usage");
  return usage.ru_maxrss * kKibi;
}

std::int64_t ParseMemoryLimit(std::string_view text, const std::string& root) {
  if (const std::optional<int> percent = ParsePercent(text)) {
    return MachineMemory(root) / kWhole * *percent;
  }
  if (const std::optional<std::int64_t> bytes = TryParseByteSize(text)) {
    return *bytes;
  }
  throw UsageError("memory_limit " + std::string(text) +
                   ": give a size such as 512MB or 4GiB, or a share of the "
                   "machine's memory such as 50%");
}

}  // namespace infeed
