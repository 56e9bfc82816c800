#pragma once

#include <string>
#include <vector>

// What --mode doctor prints.
namespace infeed {

struct Finding {
  std::string name;    // "open files"
  std::string value;   // "1024"
  std::string advice;  // what to do; empty: no problem
};

// One line each, "ok  " or "WARN", then an indented line of advice.
[[nodiscard]] std::string FindingsText(const std::vector<Finding>& findings);

// {"schema":1,"warnings":2,"findings":[{"name":..,"value":..,"ok":..,
// "advice":..},..]}
[[nodiscard]] std::string FindingsJson(const std::vector<Finding>& findings);

}  // namespace infeed
