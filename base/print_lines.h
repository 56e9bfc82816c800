#pragma once

#include <string_view>

namespace infeed {

// Prints a message of one or more lines, as ShownLines() shows them, and a
// newline, on stderr. Each write
// is of whole lines, at most as many as the system writes to a pipe at once, so
// that lines of several threads and processes do not mix. For programs:
// libraries do not print.
void PrintLines(std::string_view message);

}  // namespace infeed
