#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace infeed {

// The files of a local model_dir but its checkpoints, and which of them have
// not changed since they were uploaded; of checkpoints, the newest that was.
// What it knows outlives the process.
//
// One thread at a time. Throws IoError.
class SentFiles {
 public:
  // How a file is now; another size or time is another file.
  struct State {
    std::int64_t size = 0;
    std::int64_t time = 0;  // of its last change, in the file system's units
    bool operator==(const State&) const = default;
  };

  // record: the file in which this is kept; one that cannot be read counts as
  // none.
  SentFiles(std::string model_dir, std::string record);

  // The names of the files that were not sent as they are now, sorted:
  // "eval/00000042.json". Hidden ones and those being written are left out.
  [[nodiscard]] std::vector<std::string> Changed() const;
  // Of a file now; -1 as its size where it is missing.
  [[nodiscard]] State StateOf(const std::string& name) const;

  // Whether a file of this name was ever sent.
  [[nodiscard]] bool Knows(const std::string& name) const {
    return sent_.contains(name);
  }
  // Notes that a file was sent as it was then.
  void Note(const std::string& name, const State& then);
  // The newest checkpoint that the store has had; -1: none is known.
  [[nodiscard]] std::int64_t newest_step() const;
  void NoteNewestStep(std::int64_t step);
  // Nothing was ever sent.
  void Forget();

 private:
  void Write() const;

  std::string model_dir_;
  std::string record_;
  std::map<std::string, State> sent_;
};

}  // namespace infeed
