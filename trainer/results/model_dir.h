#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// File names in a model directory. They are built and parsed only here.
//
//   MODEL_DIR/params.yaml            the resolved parameters of the run
//             labels.txt             the names of its classes, one a line
//             metrics.jsonl          one JSON object a line
//             events.out.tfevents.*  scalars of training, for TensorBoard
//             eval/events.out.*      scalars of evaluations
//             eval/00000042.json     results of an evaluation of the training
//             eval/00000042-test-1a2b3c4d.json  results on other data
//             report.html            docs/report.md
//             plugins/profile/       docs/report.md
//             replay/step_42.html    docs/report.md
//             checkpoint-00000042/   docs/checkpoints.md
//             best.json              the checkpoint with the best evaluation
//             .checkpoint-*          a checkpoint being written or deleted
namespace infeed {

// Files of a checkpoint folder, in the order in which they are written.
inline constexpr std::string_view kModelFile = "model.safetensors";
inline constexpr std::string_view kOptimizerFile = "optim.safetensors";
inline constexpr std::string_view kStateFile = "state.json";
inline constexpr std::string_view kManifestFile = "MANIFEST";

inline constexpr std::string_view kReportFile = "report.html";

// FOLDER/NAME.
[[nodiscard]] std::string PathIn(const std::string& folder,
                                 std::string_view name);

[[nodiscard]] inline std::string ParamsPath(const std::string& model_dir) {
  return PathIn(model_dir, "params.yaml");
}
[[nodiscard]] inline std::string LabelsPath(const std::string& model_dir) {
  return PathIn(model_dir, "labels.txt");
}
[[nodiscard]] inline std::string MetricsPath(const std::string& model_dir) {
  return PathIn(model_dir, "metrics.jsonl");
}
[[nodiscard]] inline std::string BestPath(const std::string& model_dir) {
  return PathIn(model_dir, "best.json");
}
[[nodiscard]] inline std::string EvaluationsPath(const std::string& model_dir) {
  return PathIn(model_dir, "evaluations.json");
}
// The folder of the evaluations' event files.
[[nodiscard]] inline std::string EvalFolder(const std::string& model_dir) {
  return PathIn(model_dir, "eval");
}
// MODEL_DIR/eval/NNNNNNNN.json: the training's evaluation of a step, at least
// eight digits; NNNNNNNN-test-1a2b3c4d.json: of another subject, with its name.
// Requires: step >= 0.
[[nodiscard]] std::string EvalPath(const std::string& model_dir,
                                   std::int64_t step,
                                   std::string_view subject = "");
// The step of an evaluation's file; nullopt for any other base name.
[[nodiscard]] std::optional<std::int64_t> EvalStep(std::string_view base_name);

// MODEL_DIR/plugins/profile/NNNNNNNN/train_resnet.pt.trace.json: the profile
// that began at a step.
[[nodiscard]] std::string ProfilePath(const std::string& model_dir,
                                      std::int64_t step);

// The base names of a folder's entries, in any order; none when the folder is
// missing. Throws IoError.
[[nodiscard]] std::vector<std::string> NamesInFolder(const std::string& folder);

// Removes what killed runs of this machine left of files that they were
// writing, such as report.html.tmp-42; not temporary checkpoints. Throws
// IoError.
void RemoveLeftFiles(const std::string& model_dir);

// The folder, and the paths in it that runs read and write. model: a model
// directory or a checkpoint; a file of weights is the only path; "": no paths.
// Some paths may not exist.
[[nodiscard]] std::vector<std::string> ModelFiles(const std::string& model);

// "events.out.tfevents.1700000000.host.123.0": every reader looks for
// "tfevents"; the rest keeps writers apart.
[[nodiscard]] std::string EventFileName(std::int64_t unix_seconds,
                                        std::string_view host,
                                        std::int64_t process,
                                        std::int64_t counter);

// MODEL_DIR/checkpoint-NNNNNNNN: at least eight digits. Requires: step >= 0.
[[nodiscard]] std::string CheckpointFolder(const std::string& model_dir,
                                           std::int64_t step);

// The step of a checkpoint folder's base name; nullopt for any other name.
[[nodiscard]] std::optional<std::int64_t> CheckpointStep(
    std::string_view base_name);

// The steps of the checkpoint folders among base names, ascending.
[[nodiscard]] std::vector<std::int64_t> CheckpointSteps(
    const std::vector<std::string>& base_names);

// MODEL_DIR/.checkpoint-NNNNNNNN.PURPOSE-PROCESS: a checkpoint's name while it
// is being written (purpose "new") or deleted ("old").
[[nodiscard]] std::string TemporaryCheckpointFolder(
    const std::string& model_dir, std::int64_t step, std::string_view purpose);

[[nodiscard]] inline bool IsTemporaryCheckpoint(std::string_view base_name) {
  return base_name.starts_with(".checkpoint-");
}

// Renames and removes folders. All throw IoError naming the folder.
void RenameFolder(const std::string& from, const std::string& to);

// Removes the folder and everything in it; a missing folder is no error.
void RemoveFolder(const std::string& folder);

// Renames the folder to `aside`, a name that readers ignore, then removes it:
// no reader finds a half removed folder.
void RemoveFolderWhole(const std::string& folder, const std::string& aside);

}  // namespace infeed
