#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text from data or a user as messages show it.
namespace infeed {

// The bytes of the UTF-8 character that begins a text, in its shortest form; 0:
// it begins with none. Requires: text is not empty.
[[nodiscard]] std::size_t Utf8CharacterBytes(std::string_view text);

// Returns a line that no terminal or log misinterprets: control characters,
// line ends included, and bytes that are not UTF-8 become "\xNN", and URLs lose
// what WithoutUrlSecrets() removes. Shown text stays as it is if shown again.
[[nodiscard]] std::string ShownText(std::string_view text);
// As ShownText(), for several lines; line ends stay.
[[nodiscard]] std::string ShownLines(std::string_view text);

// Replaces control characters in JSON, which has them in strings only, by
// "\u00NN". Requires: UTF-8.
[[nodiscard]] std::string ShownJson(std::string_view json);

// Removes user name, password and query from each URL in the text: "?..."
// replaces everything from the URL's "?" to a blank, a quote or the end.
[[nodiscard]] std::string WithoutUrlSecrets(std::string_view text);

// Whether a path begins as a URL of a store or a web server does, in any case
// and with any number of slashes: "s3:/BUCKET".
[[nodiscard]] bool BeginsAsUrl(std::string_view path);

// A URL without query, which may contain a signature, user name and password.
[[nodiscard]] std::string UrlForMessages(std::string_view url);

}  // namespace infeed
