#include "trainer/resume.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

std::optional<std::int64_t> ParseStep(const std::string& text) {
  std::int64_t step = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, step);
  return error == std::errc() && stop == end && step >= 0 ? std::optional(step)
                                                          : std::nullopt;
}

// What load() gives; damage is told in a line instead of thrown.
template <typename Load>
std::optional<Checkpoint> Whole(Load load, std::vector<std::string>& damaged) {
  try {
    return load();
  } catch (const DataError& error) {
    damaged.emplace_back(error.what());
    return std::nullopt;
  }
}

std::optional<Checkpoint> OfStep(const std::string& model_dir,
                                 std::int64_t step,
                                 std::vector<std::string>& damaged) {
  const std::vector<std::int64_t> steps = ListCheckpoints(model_dir);
  if (std::ranges::find(steps, step) == steps.end()) {
    throw UsageError(fmt::format(
        "resume={}: {} has no checkpoint of this step; it has {}", step,
        model_dir,
        steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, ", "))));
  }
  return Whole([&] { return LoadCheckpoint(model_dir, step); }, damaged);
}

std::optional<Checkpoint> OfPath(const std::string& path,
                                 std::vector<std::string>& damaged) {
  std::optional<Checkpoint> found =
      Whole([&] { return FindCheckpoint(path, damaged); }, damaged);
  if (!found && damaged.empty()) {
    throw UsageError("resume=" + path +
                     ": no checkpoint there; give auto, never, a step, or the "
                     "path of a checkpoint or a model_dir");
  }
  return found;
}

}  // namespace

std::optional<Checkpoint> FindResume(const std::string& model_dir,
                                     const std::string& resume, bool trains,
                                     std::vector<std::string>& damaged) {
  const std::vector<std::int64_t> steps = ListCheckpoints(model_dir);
  if (resume == "never") {
    if (!steps.empty()) {
      throw UsageError(fmt::format(
          "resume=never: {} has checkpoints, the newest of step {}; give "
          "another model_dir, or move them away",
          model_dir, steps.back()));
    }
    return std::nullopt;
  }
  if (const std::optional<std::int64_t> step = ParseStep(resume)) {
    return OfStep(model_dir, *step, damaged);
  }
  if (resume != "auto" && (!trains || steps.empty())) {
    return OfPath(resume, damaged);
  }
  return LoadNewestCheckpoint(model_dir, damaged);
}

}  // namespace infeed
