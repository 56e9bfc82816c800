#pragma once

#include <functional>
#include <string>

namespace infeed {

// Prints a line, or a text of several lines, on stderr, as PrintLine() and
// PrintLines() do. Thread-safe.
void Say(const std::string& line);
void SayLines(const std::string& text);
// Prints a line as PrintNote() does.
void SayNote(const std::string& line);

// While it lives, these functions print texts as `rename` returns them:
// with the URLs of files in an object store in place of the paths of their
// local copies. `rename` may be empty; else it is thread-safe. One at a time;
// no other thread prints when it ends.
class UrlsInMessages {
 public:
  using Rename = std::function<std::string(const std::string& text)>;

  explicit UrlsInMessages(Rename rename);
  ~UrlsInMessages();
  UrlsInMessages(const UrlsInMessages&) = delete;
  UrlsInMessages& operator=(const UrlsInMessages&) = delete;

 private:
  Rename rename_;
};

// From now on nothing is printed: for ranks other than 0, which would print the
// same lines.
void SuppressMessages();

}  // namespace infeed
