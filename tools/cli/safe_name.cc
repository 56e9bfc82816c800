#include "tools/cli/safe_name.h"

#include <cstddef>
#include <filesystem>

#include "records/files/folder_listing.h"

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
  const std::filesystem::path path = name;
  const std::string extension = path.extension();
  if (extension.size() > kMaxExtension) {
    return Cut(name, kMaxBytes);
  }
  return Cut(path.stem(), kMaxBytes - extension.size()) + extension;
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
  if (name.empty() || name == "." || name == "..") {
    return "_";
  }
  return IsHiddenName(name) ? "_" + name : name;
}

}  // namespace infeed
