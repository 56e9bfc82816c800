#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infeed {

// A TIFF structure of either byte order, as EXIF data is, whose first directory
// has another entry and the orientation, of a type of `bytes` bytes.
inline std::string ExifTiff(int orientation, bool big_endian, int type = 3,
                            int bytes = 2) {
  const auto number = [&](int value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) {
      const int place = big_endian ? size - 1 - i : i;
      text.push_back(static_cast<char>(value >> (8 * place)));
    }
    return text;
  };
  return (big_endian ? "MM" : "II") + number(42, 2) + number(8, 4) +
         number(2, 2) + number(0x0100, 2) + number(4, 2) + number(1, 4) +
         number(64, 4) + number(0x0112, 2) + number(type, 2) + number(1, 4) +
         number(orientation, bytes) +
         std::string(static_cast<std::size_t>(4 - bytes), '\0') + number(0, 4);
}

// A JPEG with EXIF data behind its start marker.
inline std::string WithOrientation(const std::string& jpeg, int orientation,
                                   bool big_endian = false, int type = 3,
                                   int bytes = 2) {
  const std::string exif = std::string("Exif\0\0", 6) +
                           ExifTiff(orientation, big_endian, type, bytes);
  const auto length = static_cast<int>(exif.size() + 2);
  return jpeg.substr(0, 2) + "\xff\xe1" + static_cast<char>(length >> 8) +
         static_cast<char>(length) + exif + jpeg.substr(2);
}

// The CRC-32 of PNG chunks.
inline std::uint32_t Crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ (crc % 2 == 1 ? 0xedb88320 : 0);
    }
  }
  return ~crc;
}

// A PNG with EXIF data behind its header, which has 33 bytes.
inline std::string PngWithOrientation(const std::string& png, int orientation) {
  const std::string chunk = "eXIf" + ExifTiff(orientation, true);
  const std::uint32_t crc = Crc32(chunk);
  std::string bytes(3, '\0');
  bytes += static_cast<char>(chunk.size() - 4);
  bytes += chunk;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(crc >> shift);
  }
  return png.substr(0, 33) + bytes + png.substr(33);
}

}  // namespace infeed
