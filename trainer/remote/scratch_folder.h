#pragma once

#include <string>

namespace infeed {

// A folder on this disk for what belongs to an object store: locked for one
// process at a time, and the kernel unlocks it whatever ends the process.
//
// Throws IoError.
class ScratchFolder {
 public:
  // The one in `base` that belongs to a URL; stays when the object goes.
  // Throws UsageError when another process has it.
  [[nodiscard]] static ScratchFolder OfUrl(const std::string& base,
                                           const std::string& url);
  // One of this process's own, gone with the object unless kept. Those in base
  // that killed processes left go too, but for those that hold what was to be
  // uploaded.
  [[nodiscard]] static ScratchFolder OfThisProcess(const std::string& base);

  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  void Keep() { goes_ = false; }

  [[nodiscard]] const std::string& path() const { return path_; }
  // Where the model_dir of the store is kept, and what waits for its upload.
  [[nodiscard]] std::string model_dir() const { return path_ + "/model"; }
  [[nodiscard]] std::string outbox() const { return path_ + "/outbox"; }

 private:
  ScratchFolder(std::string path, int lock, bool goes)
      : path_(std::move(path)), lock_(lock), goes_(goes) {}

  std::string path_;
  int lock_ = -1;
  bool goes_ = false;
};

// Where scratch folders lie unless a user says otherwise: in the user's cache.
// Throws UsageError where there is none.
[[nodiscard]] std::string DefaultScratchBase();

}  // namespace infeed
