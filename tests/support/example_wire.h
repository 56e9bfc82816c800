#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace infeed {

// A length-delimited field: tag, length, bytes. Requires: fewer than 2^14
// bytes.
inline std::string WireField(int number, std::string_view bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  if (bytes.size() >= 0x80) {
    field.push_back(static_cast<char>(0x80 | (bytes.size() & 0x7F)));
    field.push_back(static_cast<char>(bytes.size() >> 7));
  } else {
    field.push_back(static_cast<char>(bytes.size()));
  }
  return field.append(bytes);
}

// The bytes of an Example from keys and the bytes of their Feature messages,
// good or bad, in the order given.
inline std::string WireExample(
    const std::vector<std::pair<std::string, std::string>>& features) {
  std::string map;
  for (const auto& [key, feature] : features) {
    map += WireField(1, WireField(1, key) + WireField(2, feature));
  }
  return WireField(1, map);
}

}  // namespace infeed
