#include "trainer/run/machine_check.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/environment.h"
#include "pipeline/memory/memory_limit.h"
#include "pipeline/options/options.h"
#include "preprocess/pixels/simd_target.h"
#include "records/bytes/byte_size.h"

namespace infeed {
namespace {

constexpr rlim_t kFewFiles = 4096;
constexpr rlim_t kLittleLocked = 64 << 20;

std::optional<std::string> FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? std::optional(line) : std::nullopt;
}

int CoresOfProcess() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores)
                                                           : 1;
}

// Cores that the control group allows; nullopt: all.
std::optional<double> CoresOfGroup(const std::string& root) {
  // Version 2 has "quota period" or "max period", version 1 a file for each.
  double quota = 0;
  double period = 0;
  std::ifstream both(root + "/sys/fs/cgroup/cpu.max");
  if (both >> quota >> period && period > 0) {
    return quota / period;
  }
  std::ifstream one(root + "/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream other(root + "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (one >> quota && other >> period && quota > 0 && period > 0) {
    return quota / period;
  }
  return std::nullopt;
}

Finding Processor(const std::string& root) {
  const std::string target = CurrentSimdTarget();
  const bool slow = target == "PORTABLE" || target == "SSE4";
  return {"processor",
          fmt::format("{}, vector code for {}", ProcessorName(root), target),
          slow ? "it lacks AVX2: decoding and resizing take longer; give the "
                 "virtual machine the host's processor type if it has one"
               : ""};
}

Finding Cores(const std::string& root) {
  const int cores = CoresOfProcess();
  const std::optional<double> quota = CoresOfGroup(root);
  if (!quota) {
    return {"cores", std::to_string(cores), ""};
  }
  return {
      "cores",
      fmt::format("{}, limited to {:.1f} by the control group", cores, *quota),
      *quota < cores
          ? fmt::format("threads beyond the limit are paused for parts of a "
                        "second: give --num_parallel_calls {}",
                        std::max(1, static_cast<int>(*quota)))
          : ""};
}

Finding Memory(const std::string& root) {
  const std::int64_t limit = InputOptions().memory_limit;
  try {
    const std::int64_t memory = MachineMemory(root);
    return {"memory", MemorySizeText(memory),
            memory < 2 * limit
                ? "the input's default memory_limit, 4GiB, is more than half "
                  "of it: give --memory_limit 25%"
                : ""};
  } catch (const std::exception& error) {
    return {"memory", "unknown", error.what()};
  }
}

std::string LimitText(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

Finding Limit(const std::string& name, int resource, rlim_t least,
              const std::string& advice) {
  rlimit limit = {};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) {
    return {name, "unknown", ""};
  }
  return {name, LimitText(limit.rlim_cur),
          limit.rlim_cur < least ? advice : ""};
}

Finding HugePages(const std::string& root) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  const std::string line = FirstLine(root + path).value_or("missing");
  const bool off = line.find("[never]") != std::string::npos;
  return {
      "huge pages", line,
      off ? "large batches cost more page faults: echo madvise > " + path : ""};
}

Finding SharedMemory(const std::string& root) {
  struct statvfs space = {};
  if (::statvfs((root + "/dev/shm").c_str(), &space) != 0) {
    return {"/dev/shm", "missing",
            "libraries that share memory between processes need it"};
  }
  const auto bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
  return {"/dev/shm", MemorySizeText(bytes) + " free", ""};
}

// The files of loaded libraries whose names begin with one of these.
std::set<std::string> LoadedLibraries(
    const std::string& root, std::initializer_list<std::string_view> names) {
  std::set<std::string> found;
  std::ifstream maps(root + "/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t begin = line.find('/');
    const std::string path =
        begin == std::string::npos ? "" : line.substr(begin);
    const std::string file = path.substr(path.rfind('/') + 1);
    if (std::ranges::any_of(names, [&](std::string_view name) {
          return file.starts_with(name);
        })) {
      found.insert(path);
    }
  }
  return found;
}

Finding LinearAlgebra(const std::string& root) {
  const std::set<std::string> found = LoadedLibraries(
      root, {"libopenblas", "libmkl_", "libblis", "libblas", "libnvpl"});
  // Debian's reference BLAS is in a folder called blas.
  const bool slow = std::ranges::any_of(found, [](const std::string& path) {
    return path.find("/blas/libblas") != std::string::npos;
  });
  return {"linear algebra",
          found.empty() ? "within LibTorch"
                        : fmt::format("{}", fmt::join(found, ", ")),
          slow ? "this is the reference BLAS, many times slower: install "
                 "libopenblas0-pthread"
               : ""};
}

Finding OpenMp(const std::string& root) {
  const std::set<std::string> found =
      LoadedLibraries(root, {"libgomp", "libiomp5", "libomp"});
  return {"OpenMP",
          found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", ")),
          found.size() > 1 ? "the threads of several runtimes compete for the "
                             "cores: load only one runtime"
                           : ""};
}

}  // namespace

std::vector<Finding> CheckMachine(const std::string& root) {
  return {
      Processor(root),
      Cores(root),
      Memory(root),
      Limit("open files", RLIMIT_NOFILE, kFewFiles,
            "a data set of thousands of shards needs more: ulimit -n 65536"),
      Limit("locked memory", RLIMIT_MEMLOCK, kLittleLocked,
            "pinned batches for a GPU need more: ulimit -l unlimited"),
      HugePages(root),
      SharedMemory(root),
      LinearAlgebra(root),
      OpenMp(root)};
}

}  // namespace infeed
