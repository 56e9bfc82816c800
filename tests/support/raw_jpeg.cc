#include "tests/support/raw_jpeg.h"

#include <algorithm>

namespace infeed {
namespace {

// AC symbols below this have codes of 9 bits.
constexpr int kShortCodes = 200;

void AppendTable(int table, const std::array<int, 17>& counts, int symbols,
                 std::vector<int>& body) {
  body.push_back(table);
  body.insert(body.end(), counts.begin() + 1, counts.end());
  for (int symbol = 0; symbol < symbols; ++symbol) {
    body.push_back(symbol);
  }
}

}  // namespace

RawJpeg& RawJpeg::Marker(int code) {
  Byte(0xFF);
  Byte(code);
  return *this;
}

RawJpeg& RawJpeg::Segment(int marker, const std::vector<int>& body) {
  Marker(marker);
  const int length = static_cast<int>(body.size()) + 2;
  Byte(length >> 8);
  Byte(length);
  for (const int value : body) {
    Byte(value);
  }
  return *this;
}

RawJpeg& RawJpeg::Quantisers(int number, int value) {
  const bool wide = value > 255;
  std::vector<int> body = {wide ? 0x10 | number : number};
  for (int i = 0; i < 64; ++i) {
    if (wide) {
      body.push_back(value >> 8);
    }
    body.push_back(value & 255);
  }
  return Segment(0xDB, body);
}

RawJpeg& RawJpeg::Frame(int width, int height,
                        const std::vector<Component>& components, int marker) {
  std::vector<int> body = {8, height >> 8, height, width >> 8, width, 0};
  body.back() = static_cast<int>(components.size());
  for (const Component& component : components) {
    body.insert(body.end(),
                {component.id, component.factors, component.quantiser});
  }
  return Segment(marker, body);
}

RawJpeg& RawJpeg::Tables() {
  std::array<int, 17> dc{};
  dc[5] = 16;
  std::array<int, 17> ac{};
  ac[9] = kShortCodes;
  ac[10] = 256 - kShortCodes;
  std::vector<int> body;
  AppendTable(0x00, dc, 16, body);
  AppendTable(0x10, ac, 256, body);
  return Segment(0xC4, body);
}

RawJpeg& RawJpeg::Scan(const std::vector<ScanComponent>& components) {
  std::vector<int> body = {static_cast<int>(components.size())};
  for (const ScanComponent& component : components) {
    body.insert(body.end(), {component.id, component.tables});
  }
  body.insert(body.end(), {0, 63, 0});
  return Segment(0xDA, body);
}

RawJpeg& RawJpeg::Bits(std::uint32_t bits, int count) {
  for (int i = count - 1; i >= 0; --i) {
    held_ = held_ << 1 | (bits >> i & 1);
    if (++held_count_ == 8) {
      const int byte = static_cast<int>(held_ & 255);
      Byte(byte);
      if (byte == 255) {
        Byte(0);
      }
      held_count_ = 0;
    }
  }
  return *this;
}

RawJpeg& RawJpeg::Dc(int size, std::uint32_t bits) {
  return Bits(static_cast<std::uint32_t>(size), 5).Bits(bits, size);
}

RawJpeg& RawJpeg::Ac(int run, int size, std::uint32_t bits) {
  const int symbol = run << 4 | size;
  if (symbol < kShortCodes) {
    Bits(static_cast<std::uint32_t>(symbol), 9);
  } else {
    Bits(static_cast<std::uint32_t>(symbol + kShortCodes), 10);
  }
  return Bits(bits, size);
}

RawJpeg& RawJpeg::Pad() { return Bits(255, (8 - held_count_) % 8); }

std::string RawJpeg::Finish() {
  Pad();
  Marker(0xD9);
  return bytes_;
}

}  // namespace infeed
