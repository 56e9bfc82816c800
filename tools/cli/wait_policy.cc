#include "tools/cli/wait_policy.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <vector>

namespace infeed {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

bool ChoosesHowToWait(std::string_view variable) {
  constexpr std::array<std::string_view, 3> kNames = {
      "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
  return std::ranges::find(kNames, variable.substr(0, variable.find('='))) !=
         kNames.end();
}

}  // namespace

std::string ProgramPath() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink(kThisProgram, path.data(), path.size() - 1);
  return length > 0 && ::access(path.data(), X_OK) == 0 ? path.data()
                                                        : kThisProgram;
}

void WaitWithShortSpins(char** argv, char** environment) {
  std::vector<char*> variables;
  for (char** variable = environment; *variable != nullptr; ++variable) {
    if (ChoosesHowToWait(*variable)) {
      return;
    }
    variables.push_back(*variable);
  }
  // The program was started as an argument of the dynamic loader: then
  // /proc/self/exe is the loader.
  if (::getauxval(AT_BASE) == 0) {
    return;
  }
  std::string passive = "OMP_WAIT_POLICY=passive";  // of other runtimes too
  std::string spins = "GOMP_SPINCOUNT=1000";
  variables.insert(variables.end(), {passive.data(), spins.data(), nullptr});
  ::execve(ProgramPath().c_str(), argv, variables.data());
}

}  // namespace infeed
