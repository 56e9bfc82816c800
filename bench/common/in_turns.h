#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

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
  // Called before each task's turns; its time is not measured.
  std::function<void(std::size_t)> prepare = [](std::size_t) {};
  // Called now and then with the fraction done, 0..1.
  std::function<void(double)> progress = [](double) {};
};

// Microseconds of one contender: for each task the minimum over all
// repetitions.
using TaskTimes = std::vector<double>;

// Lets the contenders take turns on each task, so that a change of the
// machine's speed affects all alike. The first contender changes from task to
// task, as the first finds the task's data in no cache. Each repetition goes
// through all tasks, so that branch predictors cannot learn a task.
[[nodiscard]] std::vector<TaskTimes> MeasureInTurns(
    const std::vector<Contender>& contenders, const TurnOptions& options);

// Work on task i as a Contender's run: all of it is timed.
[[nodiscard]] std::function<double(std::size_t)> Timed(
    std::function<void(std::size_t)> work);

// The mean time of a task. Requires: times is not empty.
[[nodiscard]] double Mean(const TaskTimes& times);

// The middle value; for an even number of values the mean of the two middle
// ones. Requires: values is not empty.
[[nodiscard]] inline double Median(std::vector<double> values) {
  const auto upper =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, upper);
  return values.size() % 2 == 1
             ? *upper
             : (*upper + *std::max_element(values.begin(), upper)) / 2;
}

}  // namespace infeed
