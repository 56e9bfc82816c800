#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "preprocess/pixels/image_size.h"
#include "tests/support/exif_jpeg.h"

namespace infeed {

// A PNG of grey levels of 8 bits, [height, width], not compressed. Requires: it
// has less than 64 KiB.
inline std::string GreyPng(const ImageSize& size,
                           std::span<const std::uint8_t> levels) {
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(value >> shift);
    }
    return bytes;
  };
  const auto chunk = [&](const std::string& name, const std::string& content) {
    return number(static_cast<std::uint32_t>(content.size())) + name + content +
           number(Crc32(name + content));
  };
  const auto width = static_cast<std::size_t>(size.width);
  std::string rows;
  for (std::size_t at = 0; at < levels.size(); at += width) {
    rows += '\0';  // no filter
    rows.append(levels.begin() + static_cast<std::ptrdiff_t>(at),
                levels.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const char byte : rows) {
    low = (low + static_cast<unsigned char>(byte)) % 65521;
    high = (high + low) % 65521;
  }
  const auto length = static_cast<std::uint32_t>(rows.size());
  std::string stream = {0x78, 0x01, 0x01};
  for (const std::uint32_t value : {length, ~length}) {
    stream += static_cast<char>(value);
    stream += static_cast<char>(value >> 8);
  }
  stream += rows + number(high << 16 | low);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", number(static_cast<std::uint32_t>(size.width)) +
                           number(static_cast<std::uint32_t>(size.height)) +
                           std::string("\x08\0\0\0\0", 5)) +
         chunk("IDAT", stream) + chunk("IEND", "");
}

}  // namespace infeed
