#include "tests/support/jpeg_coefficients.h"

#include <algorithm>
#include <cstdio>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include "base/error.h"

namespace infeed {
namespace {

// The natural place of each zigzag place, by walking the diagonals.
std::array<int, 64> Zigzag() {
  std::array<int, 64> places{};
  int k = 0;
  for (int sum = 0; sum < 15; ++sum) {
    for (int i = std::max(0, sum - 7); i <= std::min(sum, 7); ++i) {
      places[k++] = sum % 2 == 0 ? (sum - i) * 8 + i : i * 8 + sum - i;
    }
  }
  return places;
}

HuffmanSpec Spec(const JHUFF_TBL* table) {
  HuffmanSpec spec;
  if (table != nullptr) {
    std::copy_n(table->bits, 17, spec.counts.begin());
    std::copy_n(table->huffval, 256, spec.values.begin());
    spec.defined = true;
  }
  return spec;
}

// The bytes behind the only SOS marker up to the next marker, un-stuffed.
std::vector<std::uint8_t> Unstuffed(const std::string& jpeg) {
  std::size_t at = 2;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint8_t>(jpeg.at(i));
  };
  while (byte(at + 1) != 0xDA) {
    at += 2 + byte(at + 2) * 256 + byte(at + 3);
  }
  at += 2 + byte(at + 2) * 256 + byte(at + 3);
  std::vector<std::uint8_t> data;
  for (; byte(at) != 0xFF || byte(at + 1) == 0; ++at) {
    data.push_back(byte(at));
    at += byte(at) == 0xFF ? 1 : 0;
  }
  data.resize(data.size() + kScanSlack);
  return data;
}

class Reader {
 public:
  explicit Reader(const std::string& jpeg) {
    codec_.err = jpeg_std_error(&errors_);  // Ends the program on an error.
    jpeg_create_decompress(&codec_);
    jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(jpeg.data()),
                 jpeg.size());
    jpeg_read_header(&codec_, TRUE);
    arrays_ = jpeg_read_coefficients(&codec_);
  }
  ~Reader() { jpeg_destroy_decompress(&codec_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void Fill(CodedScan& scan) {
    const jpeg_component_info& first = codec_.comp_info[0];
    const bool gray = codec_.num_components == 1;
    // A scan of one component has MCUs of one block, whatever its factors.
    scan.mcus_per_row = static_cast<int>(
        gray ? first.width_in_blocks
             : (codec_.image_width + 8 * codec_.max_h_samp_factor - 1) /
                   (8 * codec_.max_h_samp_factor));
    scan.mcu_rows = static_cast<int>(
        gray ? first.height_in_blocks
             : (codec_.image_height + 8 * codec_.max_v_samp_factor - 1) /
                   (8 * codec_.max_v_samp_factor));
    for (int i = 0; i < 4; ++i) {
      const HuffmanSpec& dc = scan.dc_specs[i] =
          Spec(codec_.dc_huff_tbl_ptrs[i]);
      const HuffmanSpec& ac = scan.ac_specs[i] =
          Spec(codec_.ac_huff_tbl_ptrs[i]);
      Check(!dc.defined || BuildDcTable(dc, scan.dc_tables[i]), "a DC table");
      Check(!ac.defined || BuildAcTable(ac, scan.ac_tables[i]), "an AC table");
    }
    scan.layout = {};
    for (int c = 0; c < codec_.num_components; ++c) {
      AddBlocks(c, gray, scan);
    }
    scan.coefficients.clear();
    for (int y = 0; y < scan.mcu_rows; ++y) {
      for (int x = 0; x < scan.mcus_per_row; ++x) {
        AddMcu(y, x, gray, scan);
      }
    }
  }

 private:
  void AddBlocks(int c, bool gray, CodedScan& scan) {
    const jpeg_component_info& info = codec_.comp_info[c];
    const int count = gray ? 1 : info.h_samp_factor * info.v_samp_factor;
    for (int i = 0; i < count; ++i) {
      scan.layout.block.at(scan.layout.blocks++) = {
          .dc = &scan.dc_tables[info.dc_tbl_no],
          .ac = &scan.ac_tables[info.ac_tbl_no],
          .component = c};
    }
  }

  void AddMcu(int y, int x, bool gray, CodedScan& scan) {
    for (int c = 0; c < codec_.num_components; ++c) {
      const jpeg_component_info& info = codec_.comp_info[c];
      const int height = gray ? 1 : info.v_samp_factor;
      const int width = gray ? 1 : info.h_samp_factor;
      for (int i = 0; i < height; ++i) {
        JBLOCKARRAY rows = codec_.mem->access_virt_barray(
            reinterpret_cast<j_common_ptr>(&codec_), arrays_[c],
            static_cast<JDIMENSION>(y * height + i), 1, FALSE);
        for (int j = 0; j < width; ++j) {
          AddBlock(rows[0][x * width + j], scan.coefficients);
        }
      }
    }
  }

  static void AddBlock(const JCOEF* block, std::vector<std::int16_t>& all) {
    static const std::array<int, 64> zigzag = Zigzag();
    for (const int place : zigzag) {
      all.push_back(block[place]);
    }
  }

  jpeg_decompress_struct codec_{};
  jpeg_error_mgr errors_{};
  jvirt_barray_ptr* arrays_ = nullptr;
};

}  // namespace

void CodedScan::UseGroups(bool use) {
  for (std::size_t i = 0; i < ac_tables.size(); ++i) {
    if (use && ac_specs[i].defined) {
      GroupSymbols(ac_tables[i]);
    }
    ac_tables[i].is_grouped = use;
  }
}

void ReadCoefficients(const std::string& jpeg, CodedScan& scan) {
  Reader(jpeg).Fill(scan);
  scan.data = Unstuffed(jpeg);
}

}  // namespace infeed
