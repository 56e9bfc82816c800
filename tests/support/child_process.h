#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "gtest/gtest.h"

namespace infeed {

// Calls a function in a child of fork(), which is killed after a minute.
// Returns the text that the function returned.
inline std::string InChild(const std::function<std::string()>& work) {
  constexpr unsigned kSeconds = 60;
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSeconds);
    const std::string text = work();
    ::_exit(::write(ends[1], text.data(), text.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::array<char, 4096> text{};
  const ssize_t length = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

}  // namespace infeed
