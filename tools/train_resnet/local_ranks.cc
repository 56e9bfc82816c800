#include "tools/train_resnet/local_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/print_lines.h"
#include "tools/cli/signals.h"
#include "tools/cli/wait_policy.h"
#include "trainer/ranks/place.h"
#include "trainer/ranks/socket.h"

extern char** environ;

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Once a rank has failed, the time for the others to end by themselves, and
// then again after SIGTERM.
constexpr std::chrono::seconds kMoment{10};
constexpr int kCannotStart = 127;

// The interface on which NCCL listens; a user may choose another one.
constexpr const char* kNcclInterface = "NCCL_SOCKET_IFNAME";

// The variables that the launcher sets for each rank.
constexpr std::array<std::string_view, 8> kVariables = {
    "RANK",        "WORLD_SIZE",  "LOCAL_RANK",       "LOCAL_WORLD_SIZE",
    "MASTER_ADDR", "MASTER_PORT", kRankTokenVariable, kRankListenerVariable};

constexpr const char* kLoopback = "127.0.0.1";

// How the ranks find each other without interference: the launcher listens
// before it starts the ranks, so that no other process can take the port, and
// passes the socket to rank 0, which closes it once all ranks are connected.
struct MeetingPlace {
  RankListener listener{kLoopback};
  std::string token = MakeRankToken();
};

bool IsOneOfOurs(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::ranges::find(kVariables, name) != kVariables.end();
}

std::vector<std::string> MakeEnvironment(int rank, int ranks,
                                         const MeetingPlace& meeting) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!IsOneOfOurs(*variable)) {
      variables.emplace_back(*variable);
    }
  }
  if (::getenv(kNcclInterface) == nullptr) {
    variables.push_back(fmt::format("{}=lo", kNcclInterface));
  }
  for (const char* name : {"RANK", "LOCAL_RANK"}) {
    variables.push_back(fmt::format("{}={}", name, rank));
  }
  for (const char* name : {"WORLD_SIZE", "LOCAL_WORLD_SIZE"}) {
    variables.push_back(fmt::format("{}={}", name, ranks));
  }
  variables.push_back(fmt::format("MASTER_ADDR={}", kLoopback));
  variables.push_back(fmt::format("MASTER_PORT={}", meeting.listener.port()));
  variables.push_back(fmt::format("{}={}", kRankTokenVariable, meeting.token));
  if (rank == 0) {
    variables.push_back(fmt::format("{}={}", kRankListenerVariable,
                                    meeting.listener.descriptor()));
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::string EndText(const RankEnd& end) {
  if (end.signal != 0) {
    return fmt::format("rank {} was ended by signal {} ({})", end.rank,
                       end.signal, ::strsignal(end.signal));
  }
  return end.code == kCannotStart
             ? fmt::format("rank {} could not be started", end.rank)
             : fmt::format(
                   "rank {} ended with exit code {}; its reason is "
                   "above",
                   end.rank, end.code);
}

// Blocks the signals that the launcher waits for while this object lives. The
// ranks get the previous mask, with which requests to stop wait until a rank
// can keep them.
class WaitedSignals {
 public:
  WaitedSignals() {
    TakeSignals();
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) {
      sigaddset(&set_, signal);
    }
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~WaitedSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  WaitedSignals(const WaitedSignals&) = delete;
  WaitedSignals& operator=(const WaitedSignals&) = delete;

  [[nodiscard]] const sigset_t& before() const { return before_; }

  // Waits for the next signal; 0 at the deadline.
  [[nodiscard]] int Wait(std::optional<Clock::time_point> deadline) const {
    if (!deadline) {
      return ::sigwaitinfo(&set_, nullptr);
    }
    const auto left = std::max<Clock::duration>(std::chrono::milliseconds(1),
                                                *deadline - Clock::now());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time = {
        .tv_sec = seconds.count(),
        .tv_nsec = std::chrono::nanoseconds{left - seconds}.count()};
    return std::max(0, ::sigtimedwait(&set_, nullptr, &time));
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

// Runs in the child: only calls that are allowed between fork and exec. kept: a
// descriptor that the program inherits; -1: none.
[[noreturn]] void Become(pid_t launcher, const sigset_t& mask, int kept,
                         const char* program, char* const* arguments,
                         char* const* environment) {
  // A terminal's Ctrl-C is for the launcher, which passes it on once.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) {  // The launcher has ended meanwhile.
    ::_exit(kCannotStart);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  (void)::fcntl(kept, F_SETFD, 0);
  ::execve(program, arguments, environment);
  ::_exit(kCannotStart);
}

// The rank processes of a launcher, from their start to their end.
class LocalRanks {
 public:
  LocalRanks(int ranks, std::vector<std::string> arguments)
      : arguments_(std::move(arguments)) {
    const MeetingPlace meeting;  // After that only rank 0 listens.
    for (int rank = 0; rank < ranks; ++rank) {
      Start(rank, ranks, meeting);
    }
  }
  ~LocalRanks() {
    Send(SIGKILL);
    for (const pid_t process : processes_) {
      if (process > 0) {
        ::waitpid(process, nullptr, 0);
      }
    }
  }
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  ProgramEnd Wait() {
    while (ends_.size() < processes_.size()) {
      const int signal = signals_.Wait(deadline_);
      if (signal == 0) {
        Hurry();
      } else if (signal == SIGCHLD) {
        Collect();
      } else if (signal > 0) {
        Send(signal);
      }
    }
    return LauncherEnd(ends_);
  }

 private:
  void Start(int rank, int ranks, const MeetingPlace& meeting) {
    std::vector<std::string> environment =
        MakeEnvironment(rank, ranks, meeting);
    const std::vector<char*> words = Pointers(arguments_);
    const std::vector<char*> variables = Pointers(environment);
    const std::string program = ProgramPath();
    const pid_t launcher = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
      Become(launcher, signals_.before(),
             rank == 0 ? meeting.listener.descriptor() : -1, program.c_str(),
             words.data(), variables.data());
    }
    if (process < 0) {
      throw IoError(fmt::format("rank {}", rank), "start a process", errno);
    }
    processes_.push_back(process);
  }

  void Send(int signal) const {
    for (const pid_t process : processes_) {
      if (process > 0) {
        ::kill(process, signal);
      }
    }
  }

  // Collects the exit statuses of ranks that have ended.
  void Collect() {
    for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
      int status = 0;
      if (processes_[rank] > 0 &&
          ::waitpid(processes_[rank], &status, WNOHANG) > 0) {
        processes_[rank] = -1;
        Note({.rank = static_cast<int>(rank),
              .code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
              .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0});
      }
    }
  }

  void Note(const RankEnd& end) {
    if (end.signal != 0 && !hurried_) {  // It could not print the reason.
      PrintLine(
          fmt::format("{}: {}", program_invocation_short_name, EndText(end)));
    }
    const bool failed =
        end.signal != 0 ||
        (end.code != 0 &&
         end.code != static_cast<int>(ExitCode::kStoppedBySignal));
    if (failed && !deadline_) {
      deadline_ = Clock::now() + kMoment;
    }
    ends_.push_back(end);
  }

  void Hurry() {
    Send(std::exchange(hurried_, true) ? SIGKILL : SIGTERM);
    deadline_ = Clock::now() + kMoment;
  }

  std::vector<std::string> arguments_;
  WaitedSignals signals_;
  std::vector<pid_t> processes_;  // by rank; -1: ended
  std::vector<RankEnd> ends_;
  std::optional<Clock::time_point> deadline_;  // set once a rank has failed
  bool hurried_ = false;                       // the others got SIGTERM
};

}  // namespace

std::vector<std::string> RankArguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--local_ranks" || word == "--local-ranks") {
      ++i;  // and its value
    } else if (!word.starts_with("--local_ranks=") &&
               !word.starts_with("--local-ranks=")) {
      arguments.emplace_back(word);
    }
  }
  return arguments;
}

ProgramEnd LauncherEnd(const std::vector<RankEnd>& ends) {
  constexpr int kStopped = static_cast<int>(ExitCode::kStoppedBySignal);
  constexpr int kError = static_cast<int>(ExitCode::kRuntimeError);
  ProgramEnd result = ExitCode::kDone;
  for (const RankEnd& end : ends) {
    const int code = end.signal != 0 ? kError : end.code;
    const int so_far = static_cast<int>(result.code);
    if (code == kStopped && so_far == 0) {
      result = {ExitCode::kStoppedBySignal,
                "the ranks were stopped by a signal; run the same command "
                "again"};
    } else if (code != 0 && code != kStopped &&
               (so_far == 0 || so_far == kStopped ||
                (so_far == kError && code != kError))) {
      result = {static_cast<ExitCode>(code), EndText(end)};
    }
  }
  return result;
}

ProgramEnd RunLocalRanks(int ranks, const std::vector<std::string>& arguments) {
  return LocalRanks(ranks, arguments).Wait();
}

}  // namespace infeed
