#include "tools/train_resnet/doctor_report.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace infeed {
namespace {

bool IsOk(const Finding& finding) { return finding.advice.empty(); }

ReportTable RowsOf(const Finding& finding) {
  const bool ok = IsOk(finding);
  return {{.key = "name",
           .value = finding.name,
           .text = fmt::format("{} {:<16} {}\n", ok ? "ok  " : "WARN",
                               finding.name, finding.value)},
          {.key = "value", .value = finding.value},
          {.key = "ok", .value = ok},
          {.key = "advice",
           .value = finding.advice,
           .text = ok ? std::string()
                      : fmt::format("{:21} -> {}\n", "", finding.advice)}};
}

}  // namespace

ReportTable DoctorReport(const std::vector<Finding>& findings) {
  std::vector<ReportTable> items;
  items.reserve(findings.size());
  for (const Finding& finding : findings) {
    items.push_back(RowsOf(finding));
  }
  return {
      {.key = "schema", .value = 1},
      {.key = "warnings", .value = std::ranges::count(findings, false, IsOk)},
      ListRow("findings", items)};
}

}  // namespace infeed
