#include "preprocess/codecs/stored_png.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace infeed {
namespace {

// Largest stored block of DEFLATE.
constexpr std::size_t kMaxBlock = 65535;

void AppendBigEndian(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> shift);
  }
}

void AppendLittleEndian(std::string& out, std::size_t value) {
  out += static_cast<char>(value);
  out += static_cast<char>(value >> 8);
}

// PNG's CRC: the one of IEEE 802.3, reflected.
std::uint32_t Crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~crc;
}

std::uint32_t Adler32(std::string_view bytes) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

// A zlib stream of stored blocks.
std::string Stored(std::string_view bytes) {
  std::string out = "\x78\x01";
  for (std::size_t at = 0; at < bytes.size(); at += kMaxBlock) {
    const std::string_view block = bytes.substr(at, kMaxBlock);
    out += static_cast<char>(at + block.size() == bytes.size());
    AppendLittleEndian(out, block.size());
    AppendLittleEndian(out, ~block.size());
    out += block;
  }
  AppendBigEndian(out, Adler32(bytes));
  return out;
}

void AppendChunk(std::string& out, std::string_view type,
                 std::string_view data) {
  AppendBigEndian(out, static_cast<std::uint32_t>(data.size()));
  const std::string chunk = std::string(type) + std::string(data);
  out += chunk;
  AppendBigEndian(out, Crc32(chunk));
}

// The rows, each preceded by the filter byte "none".
std::string Rows(const RgbView& image) {
  std::string rows;
  for (int y = 0; y < image.height; ++y) {
    rows += '\0';
    const auto* const row = reinterpret_cast<const char*>(image.row(y));
    rows.append(row, 3 * static_cast<std::size_t>(image.width));
  }
  return rows;
}

}  // namespace

std::string StoredPng(const RgbView& image) {
  Check(image.width > 0 && image.height > 0, "an image has pixels");
  std::string header;
  AppendBigEndian(header, static_cast<std::uint32_t>(image.width));
  AppendBigEndian(header, static_cast<std::uint32_t>(image.height));
  header += std::string_view("\x08\x02\0\0\0", 5);  // 8 bits, R G B, plain
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk(png, "IHDR", header);
  AppendChunk(png, "IDAT", Stored(Rows(image)));
  AppendChunk(png, "IEND", "");
  return png;
}

}  // namespace infeed
