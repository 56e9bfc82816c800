#pragma once

#include <cstdint>
#include <string>

#include "base/environment.h"

namespace infeed {

// One process's share of a conversion that several processes do together: the
// items k with k % count == index.
struct TaskShare {
  std::int64_t index = 0;
  std::int64_t count = 1;

  [[nodiscard]] bool Has(std::int64_t item) const {
    return item % count == index;
  }
  // Whether this is the only process.
  [[nodiscard]] bool IsAll() const { return count == 1; }
};

// Parses --task_index and --num_tasks: numbers, or "auto" for the values of the
// scheduler that started this process; empty: not given. The first scheduler
// found is used:
//
//   SLURM_ARRAY_TASK_ID, _COUNT, _MIN     a Slurm job array
//   OMPI_COMM_WORLD_RANK, _SIZE           Open MPI's mpirun
//   PMI_RANK, PMI_SIZE                    MPICH's mpirun
//   SLURM_PROCID, SLURM_NTASKS            srun, where SLURM_STEP_ID is set: a
//                                         batch script itself has the others
//
// These variables are read only if one of the flags is "auto". A number in the
// other flag must agree with them. Throws UsageError.
[[nodiscard]] TaskShare ParseTaskShare(
    const std::string& task_index, const std::string& num_tasks,
    const Environment& environment = ProcessEnvironment());

}  // namespace infeed
