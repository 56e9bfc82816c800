#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace infeed {

// A program of ours while it runs: what it prints on stderr can be read line
// by line, and it can be sent signals. Ended by SIGKILL if it still runs when
// the object goes. One thread at a time.
class RunningProgram {
 public:
  RunningProgram(const std::string& name,
                 const std::vector<std::string>& arguments);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // Reads on until a line holds the text. False when stderr ends before.
  [[nodiscard]] bool ReadUntil(const std::string& text);

  void Signal(int signal) const;
  // While it has not been waited for.
  [[nodiscard]] pid_t process() const { return process_; }

  // Reads the rest and waits for the end. The exit code, or 128 + the signal
  // that ended it, as a shell says it.
  int Wait();

  // The text read so far.
  [[nodiscard]] const std::string& err() const { return err_; }

 private:
  [[nodiscard]] bool ReadSome();

  pid_t process_ = -1;
  int descriptor_ = -1;
  std::string err_;
};

}  // namespace infeed
