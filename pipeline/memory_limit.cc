#include "pipeline/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "records/byte_size.h"

namespace infeed {
namespace {

constexpr int kWhole = 100;  // per cent
constexpr std::int64_t kKibi = 1024;

// Returns the number in a file; nullopt: no file, or "max", which is none.
std::optional<std::int64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// The least of the limits of a group and of those above it. In a container the
// group's path may be that outside: what is not there has no limit.
std::int64_t LeastLimit(const std::string& mount, std::string group,
                        const std::string& name, std::int64_t least) {
  while (true) {
    if (const auto limit = NumberIn(mount + group + "/" + name)) {
      least = std::min(least, *limit);
    }
    if (group.empty()) {
      return least;
    }
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

// Lines of /proc/self/cgroup are "number:controllers:path", of version 2
// "0::path".
std::int64_t LimitOfGroups(const std::string& root, std::int64_t least) {
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
      least = LeastLimit(root + "/sys/fs/cgroup", group, "memory.max", least);
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = LeastLimit(root + "/sys/fs/cgroup/memory", group,
                         "memory.limit_in_bytes", least);
    }
  }
  return least;
}

// Returns the number in front of "%", from 1 to 100; nullopt: it is none.
std::optional<int> ParsePercent(std::string_view text) {
  int percent = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, percent);
  const bool is_percent = error == std::errc{} &&
                          std::string_view(last, end) == "%" && percent >= 1 &&
                          percent <= kWhole;
  return is_percent ? std::optional(percent) : std::nullopt;
}

}  // namespace

std::int64_t MachineMemory(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  std::ifstream file(path);
  for (std::string name; file >> name;) {
    std::int64_t kibibytes = 0;
    if (name == "MemTotal:" && file >> kibibytes) {
      return LimitOfGroups(root, kibibytes * kKibi);
    }
  }
  throw IoError(path + ": does not say how much memory there is");
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
