#include "tools/convert/task_share.h"

#include <array>
#include <optional>

#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr const char* kAuto = "auto";

struct Scheduler {
  const char* sign;  // a variable set only in processes that it started
  const char* index;
  const char* count;
  const char* first;  // the variable with the first index, if there is one
};
// Under Slurm, mpirun starts its daemons by srun, and its processes inherit
// srun's variables: so the innermost scheduler comes first, and srun last.
constexpr std::array<Scheduler, 4> kSchedulers = {
    {{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
      "SLURM_ARRAY_TASK_MIN"},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
      nullptr},
     {"PMI_RANK", "PMI_RANK", "PMI_SIZE", nullptr},
     {"SLURM_STEP_ID", "SLURM_PROCID", "SLURM_NTASKS", nullptr}}};

std::int64_t ParseNumber(const std::string& name, const std::string& text) {
  const auto number = ParseWholeNumber<std::int64_t>(text);
  if (!number || *number < 0) {
    throw UsageError(name + " " + text + ": give a number from 0 on, or auto");
  }
  return *number;
}

std::int64_t NumberIn(const Environment& environment, const std::string& name) {
  const std::optional<std::string> text = environment(name);
  if (!text) {
    throw UsageError("--task_index auto: " + name +
                     " is not set, but related variables are: give "
                     "--task_index and --num_tasks as numbers");
  }
  return ParseNumber(name, *text);
}

void CheckShare(const TaskShare& share, const std::string& whence) {
  if (share.count < 1) {
    throw UsageError("--num_tasks: " + whence + " must be at least 1");
  }
  if (share.index < 0 || share.index >= share.count) {
    throw UsageError("--task_index: " + whence + " gives task " +
                     std::to_string(share.index) + " of " +
                     std::to_string(share.count) +
                     " tasks, which are numbered from 0");
  }
}

TaskShare ShareOfScheduler(const Environment& environment) {
  for (const Scheduler& scheduler : kSchedulers) {
    if (!environment(scheduler.sign)) {
      continue;
    }
    const bool offset =
        scheduler.first != nullptr && environment(scheduler.first);
    const TaskShare share = {
        .index = NumberIn(environment, scheduler.index) -
                 (offset ? NumberIn(environment, scheduler.first) : 0),
        .count = NumberIn(environment, scheduler.count)};
    CheckShare(share, scheduler.index);
    return share;
  }
  throw UsageError(
      "--task_index auto: neither Slurm, Open MPI nor PMI started this "
      "process: give --task_index and --num_tasks as numbers");
}

// A number beside "auto" must equal the scheduler's value.
void CheckAgrees(const std::string& flag, const std::string& given,
                 std::int64_t found) {
  if (given.empty() || given == kAuto || ParseNumber(flag, given) == found) {
    return;
  }
  throw UsageError(flag + " " + given + ": the scheduler's value is " +
                   std::to_string(found));
}

}  // namespace

TaskShare ParseTaskShare(const std::string& task_index,
                         const std::string& num_tasks,
                         const Environment& environment) {
  if (task_index.empty() && num_tasks.empty()) {
    return {};
  }
  if (task_index == kAuto || num_tasks == kAuto) {
    const TaskShare share = ShareOfScheduler(environment);
    CheckAgrees("--task_index", task_index, share.index);
    CheckAgrees("--num_tasks", num_tasks, share.count);
    return share;
  }
  if (task_index.empty() || num_tasks.empty()) {
    throw UsageError(
        "--task_index and --num_tasks belong together: give both, or auto");
  }
  const TaskShare share = {.index = ParseNumber("--task_index", task_index),
                           .count = ParseNumber("--num_tasks", num_tasks)};
  CheckShare(share, "--num_tasks " + num_tasks);
  return share;
}

}  // namespace infeed
