#include "base/print_lines.h"

#include <limits.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "base/shown_text.h"

namespace infeed {
namespace {

// The length of the first part of a text: as many whole lines as fit into a
// pipe's atomic write, or a part of a longer line.
std::size_t LengthOfPart(std::string_view text) {
  if (text.size() <= PIPE_BUF) {
    return text.size();
  }
  const std::size_t end = text.substr(0, PIPE_BUF).rfind('\n');
  return end == std::string_view::npos ? std::size_t{PIPE_BUF} : end + 1;
}

void Print(std::string_view lines) {
  for (std::string_view rest = lines; !rest.empty();) {
    const std::size_t length = LengthOfPart(rest);
    // stderr has no buffer: this is one write(2).
    if (std::fwrite(rest.data(), 1, length, stderr) != length) {
      return;  // Nobody reads it.
    }
    rest.remove_prefix(length);
  }
}

}  // namespace

void PrintLine(std::string_view line) { Print(ShownText(line) + "\n"); }

void PrintLines(std::string_view text) { Print(ShownLines(text) + "\n"); }

void PrintNote(std::string_view line) {
  const std::string text = ShownText(line) + "\n";
  Print(::isatty(STDERR_FILENO) != 0 ? "\r\x1b[K" + text : text);
}

}  // namespace infeed
