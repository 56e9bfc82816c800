#pragma once

#include <stdlib.h>

#include <optional>
#include <string>

namespace infeed {

// Sets an environment variable for the length of a test.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const std::string& name, const std::string& value)
      : name_(name) {
    if (const char* old = ::getenv(name.c_str())) {
      old_ = old;
    }
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~EnvironmentVariable() {
    if (old_) {
      ::setenv(name_.c_str(), old_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> old_;
};

}  // namespace infeed
