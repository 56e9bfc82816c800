#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/median.h"  // of TaskTimes

namespace infeed {

// One way to do a task.
struct Contender {
  std::string name;
  // Does task i and returns the seconds that it took.
  std::function<double(std::size_t)> run;
};

struct TurnOptions {
  std::size_t tasks = 0;
  int repetitions = 5;
  // Called before each task's turns; what it does is not measured.
  std::function<void(std::size_t)> prepare = [](std::size_t) {};
  // Told now and then what is done, and how much of it, 0..1.
  std::function<void(double)> progress = [](double) {};
};

// Microseconds of one contender: for each task the least of all repetitions.
using TaskTimes = std::vector<double>;

// Lets the contenders do every task in turns, task by task, so that a change
// of the machine's speed meets all of them alike. The one that begins changes,
// as it finds the task's data in no cache. Repetitions pass over all tasks, so
// that branch predictors cannot learn one.
[[nodiscard]] std::vector<TaskTimes> MeasureInTurns(
    const std::vector<Contender>& contenders, const TurnOptions& options);

// Runs `body` and returns the seconds that it took.
[[nodiscard]] double SecondsOf(const std::function<void()>& body);

// What a task took on average. Requires: there is one.
[[nodiscard]] double Mean(const TaskTimes& times);

}  // namespace infeed
