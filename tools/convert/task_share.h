#pragma once

#include <cstdint>
#include <string>

#include "base/environment.h"

namespace infeed {

// One process's share of a conversion that several machines do together: the
// items k with k % count == index.
struct TaskShare {
  std::int64_t index = 0;
  std::int64_t count = 1;

  [[nodiscard]] bool Has(std::int64_t item) const {
    return item % count == index;
  }
  // Whether there are no other processes.
  [[nodiscard]] bool IsAll() const { return count == 1; }
};

// Reads --task_index and --num_tasks: numbers, or "auto" for what the scheduler
// says that started this process; empty where not given. Of the schedulers the
// first counts that is there:
//
//   SLURM_ARRAY_TASK_ID, _COUNT, _MIN     a Slurm job array
//   OMPI_COMM_WORLD_RANK, _SIZE           Open MPI's mpirun
//   PMI_RANK, PMI_SIZE                    MPICH's mpirun
//   SLURM_PROCID, SLURM_NTASKS            srun, where SLURM_STEP_ID is set: a
//                                         batch script itself has the others
//
// Neither is looked at unless one of the flags is "auto". A number given beside
// it must agree. Throws UsageError.
[[nodiscard]] TaskShare ParseTaskShare(
    const std::string& task_index, const std::string& num_tasks,
    const Environment& environment = ProcessEnvironment());

}  // namespace infeed
