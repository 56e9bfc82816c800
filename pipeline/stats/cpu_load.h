#pragma once

#include <optional>
#include <string>

// Measures how much of this process's cores other programs use.
namespace infeed {

// A reading at one moment. Processor seconds count from an arbitrary origin.
struct CpuTimes {
  double wall = 0;  // seconds
  double busy = 0;  // of the cores, by all programs
  double own = 0;   // of this process
  int cores = 0;    // that this process may use
};

// nullopt: the system does not provide them. root: the folder with /proc.
[[nodiscard]] std::optional<CpuTimes> ReadCpuTimes(
    const std::string& root = "");

// The load between two readings.
struct CpuLoad {
  double own = 0;     // cores used by all ranks of this program here
  double others = 0;  // cores used by other programs
  int cores = 0;

  // Whether other programs took cores that this program could have used.
  [[nodiscard]] bool is_too_high() const;
  // "other programs use 1.3 of 2 cores".
  [[nodiscard]] std::string Text() const;
};

// own: processor seconds of all ranks on this machine between the readings.
// nullopt: the interval is too short.
[[nodiscard]] std::optional<CpuLoad> LoadBetween(const CpuTimes& before,
                                                 const CpuTimes& after,
                                                 double own);

// The load since an earlier reading, of this process alone.
[[nodiscard]] std::optional<CpuLoad> LoadSince(
    const std::optional<CpuTimes>& before);

}  // namespace infeed
