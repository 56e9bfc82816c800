#pragma once

#include <string>
#include <vector>

#include "tools/cli/report_table.h"

namespace infeed {

// One comparison of a speed table: medians in microseconds.
struct SpeedRow {
  std::string what;
  std::string rival;  // whose times `theirs` are
  double theirs = 0;
  double ours = 0;
  double theirs_mean = 0;  // 0: not shown
  double goal = 0;         // minimum of theirs / ours; 0: none
  double at_most = 0;      // maximum of ours; 0: none

  [[nodiscard]] double ratio() const { return theirs / ours; }
  [[nodiscard]] bool is_met() const {
    return ratio() >= goal && (at_most == 0 || ours <= at_most);
  }
};

// A single figure with its goal.
struct SpeedFigure {
  std::string what;
  double value = 0;
  std::string unit;
  double goal = 0;
  bool is_ceiling = false;  // the goal is a maximum; else a minimum

  [[nodiscard]] bool is_met() const {
    return is_ceiling ? value <= goal : value >= goal;
  }
};

// The machine and libraries of a measurement, and its results.
struct SpeedReport {
  std::string cpu;
  std::string target;  // SIMD
  std::vector<std::string> versions = {};
  int images = 0;
  int windows = 0;
  int repetitions = 0;
  std::vector<SpeedRow> rows = {};
  std::vector<SpeedFigure> figures = {};
};

// Its text is a line on the machine, a table, and the figures.
[[nodiscard]] ReportTable SpeedTable(const SpeedReport& report);

}  // namespace infeed
