#pragma once

#include <string>
#include <vector>

// The checks of --mode doctor that do not need LibTorch.
namespace infeed {

struct Finding {
  std::string name;    // "open files"
  std::string value;   // "1024"
  std::string advice;  // what to do; empty: no problem
};

// "unknown" where the kernel does not report it.
[[nodiscard]] std::string ProcessorName(const std::string& root = "");
[[nodiscard]] std::string HostName();

// The machine and what this process may use of it: processor and vector code,
// cores and their quota, memory, limits of open files and of locked memory,
// huge pages, /dev/shm, and the loaded libraries of linear algebra and threads.
// root: the folder of /proc, /sys and /dev. Findings that cannot be read are
// left out. Never throws.
[[nodiscard]] std::vector<Finding> CheckMachine(const std::string& root = "");

// One line each, "ok  " or "WARN", then an indented line of advice.
[[nodiscard]] std::string FindingsText(const std::vector<Finding>& findings);

// {"schema":1,"warnings":2,"findings":[{"name":..,"value":..,"ok":..,
// "advice":..},..]}
[[nodiscard]] std::string FindingsJson(const std::vector<Finding>& findings);

}  // namespace infeed
