#pragma once

#include <string_view>

namespace infeed {

// Messages of programs on stderr; libraries do not print. The functions escape
// what terminals misinterpret (base/shown_text.h), add a newline, and write
// whole lines, at most as many as the system writes to a pipe at once, so that
// lines of several threads and processes do not mix.

// Prints one line. Line ends in it, as of a file's name, are escaped, too.
void PrintLine(std::string_view line);
// Prints a text of several lines.
void PrintLines(std::string_view text);
// Prints one line, from any thread, in place of a progress line that a terminal
// shows: its next update shows it again, below.
void PrintNote(std::string_view line);

}  // namespace infeed
