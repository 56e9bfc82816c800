#include "trainer/log/run_origin.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shell_word.h"
#include "base/shown_text.h"
#include "records/http/secrets_guard.h"

namespace infeed {
namespace {

// Longest comment: a file of parameters that is too large could not be read
// again.
constexpr std::size_t kMostBytes = 4096;

// Variables of this program, OpenMP, torchrun and the launchers in
// docs/ranks.md.
constexpr std::string_view kPrefixes[] = {"INFEED_", "OMP_", "TORCHELASTIC_",
                                          "OMPI_COMM_WORLD_"};
constexpr std::string_view kNames[] = {
    "CUDA_VISIBLE_DEVICES", "RANK",
    "WORLD_SIZE",           "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",     "MASTER_ADDR",
    "MASTER_PORT",          "PMIX_NAMESPACE",
    "SLURM_JOB_ID",         "SLURM_STEP_ID",
    "SLURM_PROCID",         "SLURM_NTASKS",
    "SLURM_LOCALID",        "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_STEP_NODELIST"};

bool Decides(std::string_view name) {
  return std::ranges::find(kNames, name) != std::end(kNames) ||
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

}  // namespace

std::string OriginValue(const RunOrigin& origin, std::string_view name) {
  const auto found =
      std::ranges::find(origin, name, &RunOrigin::value_type::first);
  return found == origin.end() ? "" : found->second;
}

std::string CommandText(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  shown.reserve(words.size());
  for (const std::string& word : words) {
    shown.push_back(ShellWord(WithoutUrlSecrets(word)));
  }
  return fmt::format("{}", fmt::join(shown, " "));
}

std::string EnvironmentText(const char* const* variables) {
  std::vector<std::string> shown;
  for (; *variables != nullptr; ++variables) {
    const std::string_view variable = *variables;
    const std::string_view name = variable.substr(0, variable.find('='));
    if (Decides(name)) {
      shown.push_back(IsSecretName(name)
                          ? fmt::format("{}=...", name)
                          : ShellWord(WithoutUrlSecrets(variable)));
    }
  }
  std::ranges::sort(shown);
  return fmt::format("{}", fmt::join(shown, " "));
}

std::string YamlComments(const RunOrigin& origin) {
  std::string text;
  for (const auto& [name, value] : origin) {
    text += fmt::format("# {}: {}\n", name, value.substr(0, kMostBytes));
  }
  return text;
}

}  // namespace infeed
