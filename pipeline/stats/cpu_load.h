#pragma once

#include <optional>
#include <string>

// What other programs take of the cores that this process may use.
namespace infeed {

// At one moment. Seconds of processor time are since any earlier one.
struct CpuTimes {
  double wall = 0;  // seconds
  double busy = 0;  // of the cores, whoever used them
  double own = 0;   // of this process
  int cores = 0;    // that this process may use
};

// nullopt: the system does not say. root: where /proc is looked for.
[[nodiscard]] std::optional<CpuTimes> ReadCpuTimes(
    const std::string& root = "");

// Between two moments.
struct CpuLoad {
  double own = 0;     // cores that this program used, all its ranks here
  double others = 0;  // cores that other programs used
  int cores = 0;

  // Others take what this program could have used.
  [[nodiscard]] bool is_too_high() const;
  // "other programs use 1.3 of 2 cores".
  [[nodiscard]] std::string Text() const;
};

// own: processor time of all ranks on this machine in between, in seconds.
// nullopt: the time between them is too short to say.
[[nodiscard]] std::optional<CpuLoad> LoadBetween(const CpuTimes& before,
                                                 const CpuTimes& after,
                                                 double own);

// Of this process alone, since then.
[[nodiscard]] std::optional<CpuLoad> LoadSince(
    const std::optional<CpuTimes>& before);

}  // namespace infeed
