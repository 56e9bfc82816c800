#include "trainer/log/text_image.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace infeed {
namespace {

constexpr int kTop = 3;  // of a glyph, in the image
constexpr int kColumns = 5;
constexpr int kAdvance = kColumns + 1;
constexpr char kFirst = ' ';
constexpr char kLast = '~';

// The printable characters of ASCII. A byte is a column of eight pixels, its
// lowest bit the top one; the highest byte is the left column.
constexpr std::array<std::uint64_t, kLast - kFirst + 1> kGlyphs = {
    0x0000000000, 0x00005F0000, 0x0007000700, 0x147F147F14, 0x242A7F2A12,
    0x2313086462, 0x3649552250, 0x0000070000, 0x001C224100, 0x0041221C00,
    0x14083E0814, 0x08083E0808, 0x00A0600000, 0x0808080808, 0x0060600000,
    0x2010080402, 0x3E5149453E, 0x00427F4000, 0x4261514946, 0x2141454B31,
    0x1814127F10, 0x2745454539, 0x3C4A494930, 0x0171090503, 0x3649494936,
    0x064949291E, 0x0036360000, 0x0056360000, 0x0814224100, 0x1414141414,
    0x0041221408, 0x0201510906, 0x324979413E, 0x7E1111117E, 0x7F49494936,
    0x3E41414122, 0x7F4141221C, 0x7F49494941, 0x7F09090901, 0x3E4149497A,
    0x7F0808087F, 0x00417F4100, 0x2040413F01, 0x7F08142241, 0x7F40404040,
    0x7F020C027F, 0x7F0408107F, 0x3E4141413E, 0x7F09090906, 0x3E4151215E,
    0x7F09192946, 0x4649494931, 0x01017F0101, 0x3F4040403F, 0x1F2040201F,
    0x3F4038403F, 0x6314081463, 0x0708700807, 0x6151494543, 0x007F414100,
    0x0204081020, 0x0041417F00, 0x0402010204, 0x4040404040, 0x0001020400,
    0x2054545478, 0x7F48444438, 0x3844444420, 0x384444487F, 0x3854545418,
    0x087E090102, 0x18A4A4A47C, 0x7F08040478, 0x00447D4000, 0x4080847D00,
    0x7F10284400, 0x00417F4000, 0x7C04180478, 0x7C08040478, 0x3844444438,
    0xFC24242418, 0x18242418FC, 0x7C08040408, 0x4854545420, 0x043F444020,
    0x3C4040207C, 0x1C2040201C, 0x3C4030403C, 0x4428102844, 0x1CA0A0A07C,
    0x4464544C44, 0x0008364100, 0x00007F0000, 0x0041360800, 0x0804081008};

void DrawGlyph(char c, int x, RgbImage& image) {
  const std::uint64_t glyph = kGlyphs[static_cast<std::size_t>(c - kFirst)];
  for (int column = 0; column < kColumns; ++column) {
    for (int row = 0; row < 8; ++row) {
      if ((glyph >> (8 * (kColumns - 1 - column) + row) & 1) != 0) {
        std::fill_n(image.row(kTop + row) + std::ptrdiff_t{x + column} * 3, 3,
                    std::uint8_t{0});
      }
    }
  }
}

}  // namespace

RgbImage TextImage(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0) == 0x80;  // a character of UTF-8
    if (!continues) {
      ascii += c >= kFirst && c <= kLast ? c : '?';
    }
  }
  const int width = static_cast<int>(ascii.size()) * kAdvance;
  RgbImage image;
  image.Resize(std::max(1, width), kTextHeight);
  std::ranges::fill(image.pixels(), std::uint8_t{255});
  for (std::size_t i = 0; i < ascii.size(); ++i) {
    DrawGlyph(ascii[i], static_cast<int>(i) * kAdvance, image);
  }
  return image;
}

}  // namespace infeed
