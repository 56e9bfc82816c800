#include "trainer/log/findings.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace infeed {

std::string FindingsText(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text +=
        fmt::format("{} {:<16} {}\n", finding.advice.empty() ? "ok  " : "WARN",
                    finding.name, finding.value);
    if (!finding.advice.empty()) {
      text += fmt::format("     {:<16} -> {}\n", "", finding.advice);
    }
  }
  return text;
}

std::string FindingsJson(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  int warnings = 0;
  for (const Finding& finding : findings) {
    const bool ok = finding.advice.empty();
    warnings += ok ? 0 : 1;
    list.push_back({{"name", finding.name},
                    {"value", finding.value},
                    {"ok", ok},
                    {"advice", finding.advice}});
  }
  const nlohmann::ordered_json all = {
      {"schema", 1}, {"warnings", warnings}, {"findings", list}};
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace infeed
