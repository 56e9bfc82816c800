#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace infeed {

// A JPEG written symbol by symbol, for streams that no encoder writes.
//
//   RawJpeg().Quantisers(0, 255).Frame(8, 8, {{1, 0x11, 0}}).Tables()
//       .Scan({{1, 0x00}}).Dc(11, 2047).Ac(0, 10, 1023).EndOfBlock()
//       .Finish();
class RawJpeg {
 public:
  RawJpeg() { Marker(0xD8); }

  struct Component {
    int id;
    int factors;    // horizontal << 4 | vertical
    int quantiser;  // number of the table
  };
  struct ScanComponent {
    int id;
    int tables;  // DC << 4 | AC
  };

  RawJpeg& Marker(int code);
  // A marker with its length and what it holds.
  RawJpeg& Segment(int marker, const std::vector<int>& body);
  // Table `number` with this value everywhere, 16 bits wide where it must be.
  RawJpeg& Quantisers(int number, int value);
  RawJpeg& Frame(int width, int height,
                 const std::vector<Component>& components, int marker = 0xC0);
  // Huffman tables 0 with codes for every symbol: DC 0..15 of 5 bits, AC
  // 0..199 of 9 and the rest of 10 bits.
  RawJpeg& Tables();
  RawJpeg& Scan(const std::vector<ScanComponent>& components);

  // Coded data, of which FF bytes get their 00. The highest bit first.
  RawJpeg& Bits(std::uint32_t bits, int count);
  // A DC difference of `size` bits, those that are coded; likewise an AC
  // coefficient after `run` zeros.
  RawJpeg& Dc(int size, std::uint32_t bits);
  RawJpeg& Ac(int run, int size, std::uint32_t bits);
  RawJpeg& EndOfBlock() { return Ac(0, 0, 0); }
  // Fills the last byte with ones.
  RawJpeg& Pad();

  // Pads, and ends the image. Returns the bytes.
  [[nodiscard]] std::string Finish();

 private:
  void Byte(int value) { bytes_.push_back(static_cast<char>(value)); }

  std::string bytes_;
  std::uint32_t held_ = 0;  // bits that are no byte yet
  int held_count_ = 0;
};

}  // namespace infeed
