#pragma once

#include <string>
#include <utility>
#include <vector>

namespace infeed {

// The words of a command line, as main() and posix_spawn() get them.
class ArgumentVector {
 public:
  explicit ArgumentVector(std::vector<std::string> words)
      : words_(std::move(words)) {
    for (std::string& word : words_) {
      argv_.push_back(word.data());
    }
    argv_.push_back(nullptr);
  }
  ArgumentVector(const ArgumentVector&) = delete;
  ArgumentVector& operator=(const ArgumentVector&) = delete;

  [[nodiscard]] int argc() const { return static_cast<int>(words_.size()); }
  [[nodiscard]] char** argv() { return argv_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> argv_;
};

}  // namespace infeed
