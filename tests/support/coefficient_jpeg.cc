#include "tests/support/coefficient_jpeg.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

namespace infeed {
namespace {

void Describe(const std::vector<CoefficientPlane>& planes,
              jpeg_compress_struct& codec) {
  int mcu_width = 0;
  int mcu_height = 0;
  for (const CoefficientPlane& plane : planes) {
    mcu_width = std::max(mcu_width, 8 * plane.horizontal);
    mcu_height = std::max(mcu_height, 8 * plane.vertical);
  }
  const CoefficientPlane& first = planes.front();
  codec.image_width =
      static_cast<JDIMENSION>(first.columns / first.horizontal * mcu_width);
  codec.image_height =
      static_cast<JDIMENSION>(first.rows / first.vertical * mcu_height);
  codec.input_components = static_cast<int>(planes.size());
  codec.in_color_space = planes.size() == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(&codec);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    jpeg_component_info& component = codec.comp_info[i];
    component.h_samp_factor = planes[i].horizontal;
    component.v_samp_factor = planes[i].vertical;
    component.quant_tbl_no = static_cast<int>(i);
    JQUANT_TBL*& table = codec.quant_tbl_ptrs[i];
    if (table == nullptr) {
      table = jpeg_alloc_quant_table(reinterpret_cast<j_common_ptr>(&codec));
    }
    std::ranges::copy(planes[i].quantiser, table->quantval);
    table->sent_table = FALSE;
  }
  codec.arith_code = TRUE;
}

void Fill(const CoefficientPlane& plane, jpeg_compress_struct& codec,
          jvirt_barray_ptr array) {
  const std::int16_t* block = plane.coefficients.data();
  for (int y = 0; y < plane.rows; ++y) {
    JBLOCKARRAY rows = codec.mem->access_virt_barray(
        reinterpret_cast<j_common_ptr>(&codec), array,
        static_cast<JDIMENSION>(y), 1, TRUE);
    for (int x = 0; x < plane.columns; ++x, block += 64) {
      std::copy_n(block, 64, rows[0][x]);
    }
  }
}

// A decode by libjpeg from its header on. Its errors end the test program.
class Decode {
 public:
  Decode(const std::string& jpeg, unsigned eighths) {
    codec_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&codec_);
    jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(jpeg.data()),
                 jpeg.size());
    jpeg_read_header(&codec_, TRUE);
    codec_.scale_num = eighths;
    codec_.scale_denom = 8;
  }
  ~Decode() {
    if (errors_.num_warnings != 0) {
      std::abort();
    }
    jpeg_destroy_decompress(&codec_);
  }
  Decode(const Decode&) = delete;
  Decode& operator=(const Decode&) = delete;

  jpeg_decompress_struct& codec() { return codec_; }

 private:
  jpeg_decompress_struct codec_{};
  jpeg_error_mgr errors_{};
};

// In -limit..limit.
int RandomCoefficient(int limit, std::mt19937& random) {
  const int range = std::min(limit, (1 << random() % 16) - 1);
  return static_cast<int>(random() % (2 * range + 1)) - range;
}

}  // namespace

std::vector<std::uint8_t> DecodedPlane::Block(int i) const {
  const int columns = width / block;
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < block; ++y) {
    const auto row = samples.begin() + (i / columns * block + y) * width +
                     i % columns * block;
    bytes.insert(bytes.end(), row, row + block);
  }
  return bytes;
}

MadeBlocks MakeBlocks(int columns, int rows, int limit, int quantiser_limit,
                      unsigned seed) {
  std::mt19937 random(seed);
  MadeBlocks blocks;
  blocks.plane.columns = columns;
  blocks.plane.rows = rows;
  for (std::uint16_t& divisor : blocks.plane.quantiser) {
    divisor = static_cast<std::uint16_t>(1 + random() % quantiser_limit);
  }
  for (int i = 0; i < columns * rows; ++i) {
    constexpr std::array<int, 3> most = {64, 10, 1};
    const int end = 1 + static_cast<int>(random() % most[i / 8 % 3]);
    std::array<std::int16_t, 64> block{};
    for (int k = 0; k < end; ++k) {
      block[kZigzag[k]] = static_cast<std::int16_t>(
          RandomCoefficient(k == 0 ? std::min(limit, 16383) : limit, random));
    }
    blocks.plane.coefficients.insert(blocks.plane.coefficients.end(),
                                     block.begin(), block.end());
    blocks.ends.push_back(static_cast<std::uint8_t>(end));
  }
  return blocks;
}

std::string CoefficientJpeg(const std::vector<CoefficientPlane>& planes) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);  // Ends the test program on an error.
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type.
  jpeg_mem_dest(&codec, &bytes, &size);
  Describe(planes, codec);
  std::vector<jvirt_barray_ptr> arrays;
  for (const CoefficientPlane& plane : planes) {
    arrays.push_back(codec.mem->request_virt_barray(
        reinterpret_cast<j_common_ptr>(&codec), JPOOL_IMAGE, TRUE,
        static_cast<JDIMENSION>(plane.columns),
        static_cast<JDIMENSION>(plane.rows),
        static_cast<JDIMENSION>(plane.vertical)));
  }
  jpeg_write_coefficients(&codec, arrays.data());
  for (std::size_t i = 0; i < planes.size(); ++i) {
    Fill(planes[i], codec, arrays[i]);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  std::string jpeg(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);  // NOLINT: libjpeg's malloc.
  return jpeg;
}

std::vector<DecodedPlane> LibjpegSamples(const std::string& jpeg,
                                         unsigned eighths) {
  Decode decode(jpeg, eighths);
  jpeg_decompress_struct& codec = decode.codec();
  codec.raw_data_out = TRUE;
  jpeg_start_decompress(&codec);
  std::vector<DecodedPlane> planes(codec.num_components);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const jpeg_component_info& component = codec.comp_info[i];
    const auto size = static_cast<unsigned>(component.DCT_scaled_size);
    DecodedPlane& plane = planes[i];
    plane.block = component.DCT_scaled_size;
    plane.width = static_cast<int>(component.width_in_blocks * size);
    plane.height = static_cast<int>(component.height_in_blocks * size);
    plane.samples.resize(std::size_t{component.width_in_blocks} * size *
                         component.height_in_blocks * size);
  }
  while (codec.output_scanline < codec.output_height) {
    std::vector<std::vector<JSAMPROW>> rows(planes.size());
    std::vector<JSAMPARRAY> arrays;
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const jpeg_component_info& component = codec.comp_info[i];
      const int count = component.v_samp_factor * component.DCT_scaled_size;
      const auto mcu_row =
          static_cast<int>(codec.output_scanline / (codec.max_v_samp_factor *
                                                    codec.min_DCT_scaled_size));
      for (int y = 0; y < count; ++y) {
        rows[i].push_back(planes[i].samples.data() +
                          std::ptrdiff_t{planes[i].width} *
                              (mcu_row * count + y));
      }
      arrays.push_back(rows[i].data());
    }
    jpeg_read_raw_data(&codec, arrays.data(),
                       static_cast<JDIMENSION>(codec.max_v_samp_factor *
                                               codec.min_DCT_scaled_size));
  }
  return planes;
}

}  // namespace infeed
