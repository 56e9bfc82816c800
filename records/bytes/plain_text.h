#pragma once

#include <string_view>

// Checks whether text can be printed in a line or stored in JSON.
namespace infeed {

// Whether bytes are valid UTF-8: complete characters in their shortest form.
[[nodiscard]] bool IsUtf8(std::string_view bytes);

// Whether text has an ASCII control character, such as a newline, a tab or an
// escape.
[[nodiscard]] bool HasControl(std::string_view text);

}  // namespace infeed
