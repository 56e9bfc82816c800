#pragma once

#include <string>
#include <string_view>

// Names of classes and files as text, however they were written.
namespace infeed {

// The text of a name that may have any bytes: what is not UTF-8 becomes \xNN,
// and what is left is in Unicode's composed form (NFC), so that a name that a
// Mac wrote as a letter and an accent is the name with the accented letter.
[[nodiscard]] std::string NameText(std::string_view bytes);

}  // namespace infeed
