#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "preprocess/jpeg_entropy/huffman.h"
#include "preprocess/jpeg_entropy/scan.h"

namespace infeed {

// The blocks of one MCU in the scan's order.
struct McuLayout {
  struct Block {
    const DcTable* dc = nullptr;
    const AcTable* ac = nullptr;
    int component = 0;  // 0..2
  };
  int blocks = 0;  // 1..6
  std::array<Block, 6> block{};
};

// A plain JPEG with its Huffman tables built.
struct PlainJpeg {
  JpegScan scan;
  McuLayout layout;
  std::span<const std::byte> bytes;
};

// Where an MCU begins: its bit offset in the un-stuffed bytes, and the DC
// predictors.
struct ScanPlace {
  std::size_t bit = 0;
  std::array<int, 3> dc{};

  friend bool operator==(const ScanPlace&, const ScanPlace&) = default;
};

// Scan bytes without the zeros stuffed behind FF. kScanSlack readable zeros
// follow.
struct ScanBytes {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
};
inline constexpr std::size_t kScanSlack = 4096;

// Blocks of coefficients behind a run's own that may be overwritten.
inline constexpr int kRunSlackBlocks = 2;

// A run of MCUs to be decoded together with other runs.
struct McuRun {
  ScanBytes bytes;
  ScanPlace place;
  int mcus = 0;
  std::int16_t* coefficients = nullptr;
  std::uint8_t* ends = nullptr;
};

}  // namespace infeed
