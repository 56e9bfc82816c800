#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "preprocess/pixels/row_sink.h"

namespace infeed {

// The back half of the JPEG decoder as compiled for one SIMD target:
// preprocess/jpeg_pixels/idct_scaled-inl.h and
// preprocess/jpeg_pixels/color-inl.h.
struct JpegBackHalf {
  // The first places of preprocess/jpeg_entropy/order-inl.h's kStoredPlace.
  std::array<std::uint8_t, 64> stored_place;
  bool (*inverse_dct_row)(int size, const std::int16_t* coefficients,
                          const std::uint8_t* ends, const int* blocks,
                          int count, const std::int16_t* quantiser,
                          std::uint8_t* out, std::ptrdiff_t stride);
  void (*upsample_h2v1)(const std::uint8_t* in, int count, std::uint8_t* out);
  void (*upsample_h2v2)(const std::uint8_t* near, const std::uint8_t* far,
                        int count, std::uint8_t* out);
  void (*upsample_h1v2)(const std::uint8_t* near, const std::uint8_t* far,
                        bool lower, int count, std::uint8_t* out);
  void (*replicate_h2)(const std::uint8_t* in, int count, std::uint8_t* out);
  void (*ycc_to_rgb)(const std::uint8_t* y, const std::uint8_t* cb,
                     const std::uint8_t* cr, int count, std::uint8_t* rgb);
  void (*ycc_to_planes)(const std::uint8_t* y, const std::uint8_t* cb,
                        const std::uint8_t* cr, int count,
                        const PlanesRow& row);
  void (*gray_to_rgb)(const std::uint8_t* y, int count, std::uint8_t* rgb);
  void (*planes_to_rgb)(const std::uint8_t* r, const std::uint8_t* g,
                        const std::uint8_t* b, int count, std::uint8_t* rgb);
};

// The back half of the target in use (preprocess/pixels/simd_target.h).
[[nodiscard]] JpegBackHalf CurrentJpegBackHalf();

}  // namespace infeed
