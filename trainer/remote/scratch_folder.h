#pragma once

#include <string>

#include "base/descriptor.h"

namespace infeed {

// A local folder for files of an object store. One process at a time has its
// lock; the kernel unlocks it however the process ends.
//
// Throws IoError.
class ScratchFolder {
 public:
  // The folder in `base` that belongs to a URL; the destructor does not remove
  // it. Throws UsageError when another process has it.
  [[nodiscard]] static ScratchFolder OfUrl(const std::string& base,
                                           const std::string& url);
  // A new folder for this process; the destructor removes it unless Keep() was
  // called. Also removes such folders of killed processes from base, except
  // those with files that wait for an upload.
  [[nodiscard]] static ScratchFolder OfThisProcess(const std::string& base);

  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  void Keep() { goes_ = false; }

  [[nodiscard]] const std::string& path() const { return path_; }
  // The local copy of the store's model directory, and the outbox.
  [[nodiscard]] std::string model_dir() const { return path_ + "/model"; }
  [[nodiscard]] std::string outbox() const { return path_ + "/outbox"; }

 private:
  ScratchFolder(std::string path, Descriptor lock, bool goes)
      : path_(std::move(path)), lock_(std::move(lock)), goes_(goes) {}

  std::string path_;
  Descriptor lock_;
  bool goes_;
};

// The default folder for scratch folders, in the user's cache. Throws
// UsageError where the user has none.
[[nodiscard]] std::string DefaultScratchBase();

}  // namespace infeed
