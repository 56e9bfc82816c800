#include "tools/cli/safe_name.h"

#include <cstddef>

namespace infeed {
namespace {

// File systems allow 255 bytes; this leaves room for suffixes.
constexpr std::size_t kMaxBytes = 200;
constexpr std::size_t kMaxExtension = 16;

bool ContinuesCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Cuts a text to a number of bytes without splitting UTF-8 characters.
std::string Cut(std::string text, std::size_t bytes) {
  if (text.size() > bytes) {
    // A character has at most three more bytes; other bytes are not UTF-8.
    const std::size_t least = bytes - 3;
    while (bytes > least && ContinuesCharacter(text[bytes])) {
      --bytes;
    }
    text.resize(bytes);
  }
  return text;
}

std::string Shortened(const std::string& name) {
  const NameParts parts = SplitName(name);
  if (parts.extension.size() > kMaxExtension) {
    return Cut(name, kMaxBytes);
  }
  return Cut(parts.stem, kMaxBytes - parts.extension.size()) + parts.extension;
}

}  // namespace

std::string SafeName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto value = static_cast<unsigned char>(c);
    name += c == '/' || c == '\\' || value < 0x20 || value == 0x7F ? '_' : c;
  }
  name = Shortened(name);
  // Checked last, after all changes of the name.
  return name.empty() || name == "." || name == ".." ? "_" : name;
}

NameParts SplitName(std::string_view name) {
  const std::size_t point = name.rfind('.');
  if (point == std::string_view::npos || point == 0) {
    return {.stem = std::string(name), .extension = ""};
  }
  return {.stem = std::string(name.substr(0, point)),
          .extension = std::string(name.substr(point))};
}

}  // namespace infeed
