#include "base/print_lines.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace infeed {
namespace {

// Two processes with one pipe as stderr, like ranks, each print messages of
// many lines.
std::string PrintedByTwo(const std::string& first, const std::string& second) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  for (const std::string& message : {first, second}) {
    if (::fork() == 0) {
      ::dup2(pipe[1], STDERR_FILENO);
      for (int i = 0; i < 20; ++i) {
        PrintLines(message);
      }
      ::_exit(0);
    }
  }
  ::close(pipe[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = ::read(pipe[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  ::close(pipe[0]);
  while (::wait(nullptr) > 0) {
  }
  return text;
}

TEST(PrintLinesTest, LinesOfTwoProcessesDoNotMix) {
  const std::string a(97, 'a');
  const std::string b(89, 'b');
  std::string many_a = a;
  std::string many_b = b;
  for (int i = 1; i < 500; ++i) {
    many_a += "\n" + a;
    many_b += "\n" + b;
  }
  std::istringstream lines(PrintedByTwo(many_a, many_b));
  std::set<std::string> seen;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    seen.insert(line);
  }
  EXPECT_EQ(seen, (std::set<std::string>{a, b}));
  EXPECT_EQ(count, 2 * 20 * 500);
}

TEST(PrintLinesTest, PrintsALongLineInFull) {
  testing::internal::CaptureStderr();
  PrintLines(std::string(10'000, 'x'));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            std::string(10'000, 'x') + "\n");
}

TEST(PrintLinesTest, EscapesLineEndsOnlyInSingleLines) {
  testing::internal::CaptureStderr();
  PrintLine("folder/a\nproblem: made up\033[2J");
  PrintLines("first\nsecond\033[2J");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "folder/a\\x0aproblem: made up\\x1b[2J\n"
            "first\nsecond\\x1b[2J\n");
}

// A progress line stands only on a terminal.
TEST(PrintLinesTest, ANoteIsAPlainLineInAFile) {
  testing::internal::CaptureStderr();
  PrintNote("worker a:9410: lost\n\r");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "worker a:9410: lost\\x0a\\x0d\n");
}

}  // namespace
}  // namespace infeed
