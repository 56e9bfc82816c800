#pragma once

#include <optional>
#include <string>

#include "base/environment.h"
#include "preprocess/pixels/image_size.h"
#include "tools/convert/converter_options.h"
#include "tools/convert/plan.h"
#include "tools/convert/shard_upload.h"

namespace CLI {
class App;
}
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

// The flags of imagenet_to_records for its output: format, place and encoding.
struct OutputFlags {
  std::string output_dir;
  std::string shards = "auto";
  bool dry_run = false;
  PlanOptions plan = {};            // shards excepted
  ConverterOptions converter = {};  // task share excepted
  std::optional<ImageSize> image_size = {};
  std::optional<SeekEntries> seek_index = {};
  std::string task_index;
  std::string num_tasks;
  bool finish = false;
  std::string project;
  std::string gcs_output_path;
  std::optional<bool> gcs_upload;
};

// flags must outlive the app's parse.
void AddOutputFlags(CLI::App& app, OutputFlags& flags);

// The options of the plan and of the conversion, and the target of the upload.
// Throw UsageError naming the flag that is out of its range.
[[nodiscard]] PlanOptions CheckedPlanOptions(const OutputFlags& flags);
[[nodiscard]] ConverterOptions CheckedConverterOptions(
    const OutputFlags& flags);
[[nodiscard]] UploadTarget CheckedUploadTarget(const OutputFlags& flags);

}  // namespace infeed
