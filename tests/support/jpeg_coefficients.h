#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "preprocess/jpeg_entropy/entropy.h"

namespace infeed {

// A baseline JPEG of one scan, parsed by libjpeg: the input of an entropy
// decoder, and the expected result.
struct CodedScan {
  // layout() points into tables, so it stays where it is.
  CodedScan() = default;
  CodedScan(const CodedScan&) = delete;
  CodedScan& operator=(const CodedScan&) = delete;

  [[nodiscard]] ScanBytes bytes() const {
    return {data.data(), data.size() - kScanSlack};
  }
  [[nodiscard]] int mcus() const { return mcus_per_row * mcu_rows; }
  [[nodiscard]] int blocks() const { return mcus() * layout.blocks; }

  // Whether PassMcus() goes by groups of symbols.
  void UseGroups(bool use);

  McuLayout layout;
  int mcus_per_row = 0;
  int mcu_rows = 0;
  std::vector<std::uint8_t> data;  // un-stuffed, with slack
  // 64 a block in zigzag order, blocks in the scan's order.
  std::vector<std::int16_t> coefficients;
  std::array<HuffmanSpec, 4> dc_specs;
  std::array<HuffmanSpec, 4> ac_specs;
  std::array<DcTable, 4> dc_tables;
  std::array<AcTable, 4> ac_tables;
};

// Fills `scan` from a JPEG without restart markers.
void ReadCoefficients(const std::string& jpeg, CodedScan& scan);

}  // namespace infeed
