#include "preprocess/jpeg/details.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include "preprocess/jpeg/error.h"

namespace infeed {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr std::string_view kExif("Exif\0\0", 6);
using Table = std::array<int, DCTSIZE2>;

// The standard's example luminance table (ITU-T T.81, table K.1).
constexpr Table kLuminance = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

// The table as libjpeg scales it for a quality in 1..100.
Table MakeLuminanceTable(int quality) {
  const int percent = quality < 50 ? 5000 / quality : 200 - quality * 2;
  Table table{};
  std::transform(kLuminance.begin(), kLuminance.end(), table.begin(),
                 [&](int value) {
                   return std::clamp((value * percent + 50) / 100, 1, 255);
                 });
  return table;
}

// Owns the decompressor. On the heap, since none of its members may be a local
// of a function that libjpeg jumps out of.
struct Reader {
  Reader() { codec.err = errors.manager(); }
  ~Reader() { jpeg_destroy_decompress(&codec); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  JpegErrorTrap errors;
  jpeg_decompress_struct codec{};
};

void ReadHeader(std::span<const std::byte> bytes,
                jpeg_decompress_struct& codec) {
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(bytes.data()),
               bytes.size());
  jpeg_save_markers(&codec, kExifMarker, static_cast<unsigned>(kExif.size()));
  jpeg_read_header(&codec, TRUE);
}

bool HasExif(const jpeg_decompress_struct& codec) {
  for (const jpeg_marker_struct* marker = codec.marker_list; marker != nullptr;
       marker = marker->next) {
    const auto* data = reinterpret_cast<const char*>(marker->data);
    if (marker->marker == kExifMarker &&
        std::string_view(data, marker->data_length).starts_with(kExif)) {
      return true;
    }
  }
  return false;
}

// Estimates the quality from the first component's table.
void EstimateQuality(const jpeg_decompress_struct& codec,
                     JpegDetails& details) {
  const JQUANT_TBL* found =
      codec.quant_tbl_ptrs[codec.comp_info[0].quant_tbl_no];
  if (found == nullptr) {
    return;
  }
  int nearest = 0;
  for (int quality = 1; quality <= 100; ++quality) {
    const Table table = MakeLuminanceTable(quality);
    int distance = 0;
    for (int i = 0; i < DCTSIZE2; ++i) {
      distance += std::abs(table[i] - static_cast<int>(found->quantval[i]));
    }
    if (details.quality == 0 || distance < nearest) {
      details.quality = quality;
      nearest = distance;
    }
  }
  details.standard_table = nearest == 0;
}

}  // namespace

JpegDetails ReadJpegDetails(std::span<const std::byte> bytes) {
  const auto reader = std::make_unique<Reader>();
  jpeg_decompress_struct& codec = reader->codec;
  reader->errors.RunHeader([&] { ReadHeader(bytes, codec); });
  JpegDetails details = {
      .width = static_cast<int>(codec.image_width),
      .height = static_cast<int>(codec.image_height),
      .components = codec.num_components,
      .progressive = codec.progressive_mode != FALSE,
      .arithmetic = codec.arith_code != FALSE,
      .restart_interval = static_cast<int>(codec.restart_interval),
      .adobe_transform =
          codec.saw_Adobe_marker != FALSE ? codec.Adobe_transform : -1,
      .has_exif = HasExif(codec)};
  const int known =
      std::min(details.components, static_cast<int>(details.sampling.size()));
  for (int i = 0; i < known; ++i) {
    details.sampling[i] = {.horizontal = codec.comp_info[i].h_samp_factor,
                           .vertical = codec.comp_info[i].v_samp_factor};
  }
  EstimateQuality(codec, details);
  return details;
}

std::string SamplingName(const JpegDetails& details) {
  if (details.components == 1) {
    return "gray";
  }
  const auto& [luma, blue, red, black] = details.sampling;
  if (details.components == 3 && blue.horizontal == 1 && blue.vertical == 1 &&
      red.horizontal == 1 && red.vertical == 1) {
    switch (luma.horizontal * 10 + luma.vertical) {
      case 11:
        return "4:4:4";
      case 21:
        return "4:2:2";
      case 22:
        return "4:2:0";
      case 12:
        return "4:4:0";
      case 41:
        return "4:1:1";
      case 42:
        return "4:1:0";
      default:  // Other sampling factors have no name.
        break;
    }
  }
  std::string name;
  for (int i = 0; i < std::min(details.components, 4); ++i) {
    name += (i == 0 ? "" : ",") +
            std::to_string(details.sampling[i].horizontal) + "x" +
            std::to_string(details.sampling[i].vertical);
  }
  return name;
}

}  // namespace infeed
