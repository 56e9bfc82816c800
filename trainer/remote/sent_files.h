#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace infeed {

// Records which files of a local model directory, except checkpoints, have not
// changed since they were uploaded, and the newest checkpoint uploaded. The
// record is kept in a file, so that it outlives the process.
//
// One thread at a time. Throws IoError.
class SentFiles {
 public:
  // The state of a file: with another size or time it counts as changed.
  struct State {
    std::int64_t size = 0;
    std::int64_t time = 0;  // of its last change, in the file system's units
    bool operator==(const State&) const = default;
  };

  // record: the file of the record; a file that cannot be read counts as
  // missing.
  SentFiles(std::string model_dir, std::string record);

  // The names of the files that have changed since they were sent, or were
  // never sent, sorted: "eval/00000042.json". Hidden files and files being
  // written are left out.
  [[nodiscard]] std::vector<std::string> Changed() const;
  // The names of files that were sent and are here no longer, sorted.
  [[nodiscard]] std::vector<std::string> Gone() const;
  // The current state of a file; size -1 if it is missing.
  [[nodiscard]] State ReadState(const std::string& name) const;

  // Whether a file of this name was ever sent.
  [[nodiscard]] bool WasSent(const std::string& name) const {
    return sent_.contains(name);
  }
  // Records that a file was sent in this state.
  void Note(const std::string& name, const State& state) {
    sent_[name] = state;
    Write();
  }
  // Clears what is recorded of a file.
  void Forget(const std::string& name) {
    sent_.erase(name);
    Write();
  }
  // The newest checkpoint known to have been in the store; -1: none.
  [[nodiscard]] std::int64_t newest_step() const;
  void NoteNewestStep(std::int64_t step);
  // While the checkpoints of a course that a run left by --force may still be
  // in the store: the newest checkpoint uploaded since; -1: none yet.
  [[nodiscard]] std::optional<std::int64_t> new_course() const;
  void NoteNewCourse(std::optional<std::int64_t> step);
  // Clears the record, as if nothing had been sent.
  void Forget() {
    sent_.clear();
    Write();
  }

 private:
  void Write() const;

  std::string model_dir_;
  std::string record_;
  std::map<std::string, State> sent_;
};

}  // namespace infeed
