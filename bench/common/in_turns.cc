#include "bench/common/in_turns.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

#include "base/seconds.h"

namespace infeed {

std::vector<TaskTimes> MeasureInTurns(const std::vector<Contender>& contenders,
                                      const TurnOptions& options) {
  const std::size_t count = contenders.size();
  std::vector<TaskTimes> times(
      count, TaskTimes(options.tasks, std::numeric_limits<double>::infinity()));
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    for (std::size_t task = 0; task < options.tasks; ++task) {
      options.prepare(task);
      for (std::size_t turn = 0; turn < count; ++turn) {
        const std::size_t who =
            (turn + task + static_cast<std::size_t>(repetition)) % count;
        double& least = times[who][task];
        least = std::min(least, 1e6 * contenders[who].run(task));
      }
      options.progress((repetition + static_cast<double>(task + 1) /
                                         static_cast<double>(options.tasks)) /
                       options.repetitions);
    }
  }
  return times;
}

std::function<double(std::size_t)> Timed(
    std::function<void(std::size_t)> work) {
  return [work = std::move(work)](std::size_t i) {
    const auto start = std::chrono::steady_clock::now();
    work(i);
    return SecondsSince(start);
  };
}

double Mean(const TaskTimes& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) /
         static_cast<double>(times.size());
}

}  // namespace infeed
