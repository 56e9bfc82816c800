#pragma once

#include <string_view>

// What may be shown in a line of text or stand in JSON.
namespace infeed {

// Whether bytes are characters of UTF-8, each whole and in its shortest form.
[[nodiscard]] bool IsUtf8(std::string_view bytes);

// Whether there is a newline, a tab, an escape or another control character of
// ASCII.
[[nodiscard]] bool HasControl(std::string_view text);

}  // namespace infeed
