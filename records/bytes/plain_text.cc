#include "records/bytes/plain_text.h"

#include <algorithm>
#include <cstddef>

#include "base/shown_text.h"

namespace infeed {
bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = Utf8CharacterBytes(bytes);
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F;
  });
}

}  // namespace infeed
