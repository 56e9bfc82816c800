#pragma once

#include <string>
#include <string_view>

namespace infeed {

// A JPEG with EXIF data behind its start marker: a TIFF structure of either
// byte order, whose first directory has another entry and the orientation.
inline std::string WithOrientation(const std::string& jpeg, int orientation,
                                   bool big_endian = false) {
  const auto number = [&](int value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) {
      const int place = big_endian ? bytes - 1 - i : i;
      text.push_back(static_cast<char>(value >> (8 * place)));
    }
    return text;
  };
  const std::string tiff = (big_endian ? "MM" : "II") + number(42, 2) +
                           number(8, 4) + number(2, 2) + number(0x0100, 2) +
                           number(4, 2) + number(1, 4) + number(64, 4) +
                           number(0x0112, 2) + number(3, 2) + number(1, 4) +
                           number(orientation, 2) + number(0, 2) + number(0, 4);
  const std::string exif = std::string("Exif\0\0", 6) + tiff;
  const auto length = static_cast<int>(exif.size() + 2);
  return jpeg.substr(0, 2) + "\xff\xe1" + static_cast<char>(length >> 8) +
         static_cast<char>(length) + exif + jpeg.substr(2);
}

}  // namespace infeed
