#include "trainer/results/model_dir.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::size_t kDigits = 8;
// The files that are replaced whole.
constexpr std::array<std::string_view, 5> kSingleFiles = {
    "params.yaml", "labels.txt", "best.json", "evaluations.json", kReportFile};

std::string CheckpointName(std::int64_t step) {
  Check(step >= 0, "a step is not negative");
  return fmt::format("{}{:0{}}", kPrefix, step, kDigits);
}

}  // namespace

std::string PathIn(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

std::vector<std::string> NamesInFolder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw IoError(folder, "list", error.value());
  }
  return names;
}

std::string EvalPath(const std::string& model_dir, std::int64_t step,
                     std::string_view subject) {
  Check(step >= 0, "a step is not negative");
  return PathIn(EvalFolder(model_dir),
                fmt::format("{:0{}}{}{}.json", step, kDigits,
                            subject.empty() ? "" : "-", subject));
}

std::optional<std::int64_t> EvalStep(std::string_view base_name) {
  const auto step = ParsePlainNumber<std::int64_t>(
      base_name.substr(0, base_name.find_first_of("-.")));
  if (!step || *step < 0 || !base_name.ends_with(".json")) {
    return std::nullopt;
  }
  const std::string digits = fmt::format("{:0{}}", *step, kDigits);
  return base_name.starts_with(digits) ? step : std::nullopt;
}

std::string ProfilePath(const std::string& model_dir, std::int64_t step) {
  // TensorBoard's plug-in for PyTorch's profiles looks for files that end so.
  return PathIn(model_dir,
                fmt::format("plugins/profile/{:0{}}/train_resnet.pt.trace.json",
                            step, kDigits));
}

void RemoveLeftFiles(const std::string& model_dir) {
  const std::string eval = EvalFolder(model_dir);
  for (const std::string& folder : {model_dir, eval}) {
    for (const std::string& name : NamesInFolder(folder)) {
      const std::string_view left = NameOfLeftover(name);
      if (folder == eval
              ? EvalStep(left).has_value()
              : std::ranges::find(kSingleFiles, left) != kSingleFiles.end()) {
        RemoveFile(PathIn(folder, name));
      }
    }
  }
}

std::vector<std::string> ModelFiles(const std::string& model) {
  if (model.empty()) {
    return {};
  }
  std::vector<std::string> files = {model,
                                    ParamsPath(model),
                                    LabelsPath(model),
                                    MetricsPath(model),
                                    BestPath(model),
                                    EvaluationsPath(model),
                                    PathIn(model, kReportFile)};
  std::error_code error;
  if (!fs::is_directory(model, error)) {
    return files;  // Weights, an object store's URL or nothing yet.
  }
  std::vector<std::string> checkpoints = {model};
  for (const std::int64_t step : CheckpointSteps(NamesInFolder(model))) {
    checkpoints.push_back(CheckpointFolder(model, step));
  }
  for (const std::string& folder : checkpoints) {
    for (const std::string_view name :
         {kModelFile, kOptimizerFile, kStateFile, kManifestFile}) {
      files.push_back(PathIn(folder, name));
    }
  }
  if (const std::string eval = EvalFolder(model);
      fs::is_directory(eval, error)) {
    for (const std::string& name : NamesInFolder(eval)) {
      files.push_back(PathIn(eval, name));
    }
  }
  return files;
}

std::string EventFileName(std::int64_t unix_seconds, std::string_view host,
                          std::int64_t process, std::int64_t counter) {
  return fmt::format("events.out.tfevents.{:010}.{}.{}.{}", unix_seconds, host,
                     process, counter);
}

std::string CheckpointFolder(const std::string& model_dir, std::int64_t step) {
  return PathIn(model_dir, CheckpointName(step));
}

std::optional<std::int64_t> CheckpointStep(std::string_view base_name) {
  if (!base_name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const auto step =
      ParsePlainNumber<std::int64_t>(base_name.substr(kPrefix.size()));
  const bool is_name = step && *step >= 0 && CheckpointName(*step) == base_name;
  return is_name ? step : std::nullopt;
}

std::vector<std::int64_t> CheckpointSteps(
    const std::vector<std::string>& base_names) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : base_names) {
    if (const std::optional<std::int64_t> step = CheckpointStep(name)) {
      steps.push_back(*step);
    }
  }
  std::ranges::sort(steps);
  return steps;
}

std::string TemporaryCheckpointFolder(const std::string& model_dir,
                                      std::int64_t step,
                                      std::string_view purpose) {
  return PathIn(model_dir, fmt::format(".{}.{}-{}", CheckpointName(step),
                                       purpose, ::getpid()));
}

void RenameFolder(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw IoError(to, "rename", errno);
  }
}

void RemoveFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) {
    throw IoError(folder, "remove", error.value());
  }
}

void RemoveFolderWhole(const std::string& folder, const std::string& aside) {
  RenameFolder(folder, aside);
  RemoveFolder(aside);
}

}  // namespace infeed
