#include "tests/support/running_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "tests/support/argument_vector.h"

extern char** environ;

namespace infeed {

RunningProgram::RunningProgram(const std::string& name,
                               const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  Check(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                   O_WRONLY, 0);
  std::string path = std::string(INFEED_PROGRAMS) + "/" + name;
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), path);
  ArgumentVector argv(std::move(words));
  Check(::posix_spawn(&process_, path.c_str(), &actions, nullptr, argv.argv(),
                      environ) == 0,
        "the program can be started");
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  descriptor_ = ends[0];
}

RunningProgram::~RunningProgram() {
  if (process_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
}

bool RunningProgram::ReadSome() {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
  if (got > 0) {
    err_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return got > 0;
}

bool RunningProgram::ReadUntil(const std::string& text) {
  while (err_.find(text) == std::string::npos) {
    if (!ReadSome()) {
      return false;
    }
  }
  return true;
}

void RunningProgram::Signal(int signal) const { ::kill(process_, signal); }

int RunningProgram::Wait() {
  while (ReadSome()) {
  }
  ::close(std::exchange(descriptor_, -1));
  int status = 0;
  Check(::waitpid(std::exchange(process_, -1), &status, 0) > 0,
        "a child is waited for once");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace infeed
