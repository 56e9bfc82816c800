#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Whether text can be printed in a line or stored in JSON, and parts of names.
namespace infeed {

// Whether bytes are valid UTF-8: complete characters in their shortest form.
[[nodiscard]] bool IsUtf8(std::string_view bytes);

// Text of any bytes: those that are not UTF-8 become \xNN, in lower case, as
// Python's "backslashreplace" writes them.
[[nodiscard]] std::string AsUtf8(std::string_view bytes);

// Text without the byte-order mark that Windows programs put before it.
[[nodiscard]] std::string_view WithoutMark(std::string_view text);

// Takes the first line off a text, which is not empty; returns it without its
// end, "\n" or "\r\n".
[[nodiscard]] std::string_view TakeLine(std::string_view& text);

// Whether text has an ASCII control character, such as a newline, a tab or an
// escape.
[[nodiscard]] bool HasControl(std::string_view text);

// Bytes as text: a view of them.
[[nodiscard]] inline std::string_view AsChars(
    std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Text with the capitals of ASCII made small.
[[nodiscard]] std::string LowerCase(std::string_view text);

// A text without leading and trailing blanks.
[[nodiscard]] inline std::string_view Trimmed(
    std::string_view text, std::string_view blanks = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The text of a name of a class or a file, which may have any bytes: what is
// not UTF-8 becomes \xNN, and what is left is in Unicode's composed form (NFC),
// so that a name that a Mac wrote as a letter and an accent is the name with
// the accented letter.
[[nodiscard]] std::string NameText(std::string_view bytes);

// The part of a path or URL behind its last "/"; all of it if there is none.
[[nodiscard]] inline std::string_view BaseName(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// The part of a name behind its last "."; empty if there is none.
[[nodiscard]] inline std::string_view Extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view()
                                       : name.substr(dot + 1);
}

// The first folder of a relative path; empty if it has none.
[[nodiscard]] inline std::string_view FirstFolder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view()
                                         : path.substr(0, slash);
}

// A relative path without its first folder. Requires: it has one.
[[nodiscard]] inline std::string_view BelowFirstFolder(std::string_view path) {
  return path.substr(path.find('/') + 1);
}

}  // namespace infeed
