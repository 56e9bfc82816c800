#include "pipeline/stats/cpu_load.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/seconds.h"
#include "pipeline/stats/process_usage.h"

namespace infeed {
namespace {

// Shorter intervals are too coarse: the system counts hundredths of a second.
constexpr double kLeastSeconds = 0.2;
// Any system's background work uses less than this.
constexpr double kSomeCores = 0.5;
constexpr double kAllBusy = 0.9;  // of the cores

// Ticks of a line of /proc/stat behind its name: user, nice, system, idle,
// iowait, irq, softirq, steal. Idle and iowait are not busy.
double BusyTicks(std::istream& line) {
  double busy = 0;
  double ticks = 0;
  for (int column = 0; column < 8 && line >> ticks; ++column) {
    busy += column == 3 || column == 4 ? 0 : ticks;
  }
  return busy;
}

}  // namespace

std::optional<CpuTimes> ReadCpuTimes(const std::string& root) {
  cpu_set_t allowed;
  const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || tick <= 0) {
    return std::nullopt;
  }
  CpuTimes times{
      .wall = ToSeconds(std::chrono::steady_clock::now().time_since_epoch()),
      .own = CpuSeconds()};
  std::ifstream file(root + "/proc/stat");
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string name;
    std::size_t core = 0;
    line >> name;
    std::istringstream number(name.starts_with("cpu") ? name.substr(3) : "");
    if (number >> core && core < CPU_SETSIZE && CPU_ISSET(core, &allowed)) {
      times.busy += BusyTicks(line) / tick;
      ++times.cores;
    }
  }
  return times.cores > 0 ? std::optional(times) : std::nullopt;
}

bool CpuLoad::is_too_high() const {
  return others >= kSomeCores && own + others >= kAllBusy * cores;
}

std::string CpuLoad::Text() const {
  return fmt::format("other programs use {:.1f} of {} cores", others, cores);
}

std::optional<CpuLoad> LoadBetween(const CpuTimes& before,
                                   const CpuTimes& after, double own) {
  const double seconds = after.wall - before.wall;
  if (seconds < kLeastSeconds || after.cores != before.cores) {
    return std::nullopt;
  }
  return CpuLoad{
      .own = own / seconds,
      .others = std::max(0.0, after.busy - before.busy - own) / seconds,
      .cores = after.cores};
}

std::optional<CpuLoad> LoadSince(const std::optional<CpuTimes>& before) {
  const std::optional<CpuTimes> now = ReadCpuTimes();
  return before && now ? LoadBetween(*before, *now, now->own - before->own)
                       : std::nullopt;
}

}  // namespace infeed
