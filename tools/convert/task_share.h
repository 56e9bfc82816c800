#pragma once

#include <string>

#include "base/environment.h"
#include "tools/convert/plan.h"

namespace infeed {

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
