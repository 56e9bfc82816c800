#pragma once

#include <cstdint>

#include "preprocess/pixels/row_sink.h"

// Upsampling and colour conversion, a row at a time, in plain C++, with
// libjpeg-turbo's default methods: chroma weighted 3 : 1 between its two
// nearest samples in each direction, and ITU-R BT.601 by tables of 16 binary
// places (JFIF). in[-1] and in[count] must be readable: real neighbours, or
// copies of the edge.
namespace infeed {

// Writes 2 * count samples.
void UpsampleH2V1Row(const std::uint8_t* in, int count, std::uint8_t* out);

// Writes 2 * count samples between two rows; near is the row with the larger
// weight.
void UpsampleH2V2Row(const std::uint8_t* near, const std::uint8_t* far,
                     int count, std::uint8_t* out);

// Writes count samples between two rows. lower: the output row is below near's
// centre; rounding depends on it.
void UpsampleH1V2Row(const std::uint8_t* near, const std::uint8_t* far,
                     bool lower, int count, std::uint8_t* out);

// Writes each sample twice.
void ReplicateH2Row(const std::uint8_t* in, int count, std::uint8_t* out);

// Write the samples of each plane `step` bytes apart.
void YccToRgbRow(const std::uint8_t* y, const std::uint8_t* cb,
                 const std::uint8_t* cr, int count, const PlanesRow& row,
                 int step = 1);
void PlanesToRgbRow(const std::uint8_t* r, const std::uint8_t* g,
                    const std::uint8_t* b, int count, const PlanesRow& row,
                    int step = 1);

// Write 3 * count bytes R G B.
inline void YccToRgbRow(const std::uint8_t* y, const std::uint8_t* cb,
                        const std::uint8_t* cr, int count, std::uint8_t* rgb) {
  YccToRgbRow(y, cb, cr, count, {rgb, rgb + 1, rgb + 2}, 3);
}
inline void PlanesToRgbRow(const std::uint8_t* r, const std::uint8_t* g,
                           const std::uint8_t* b, int count,
                           std::uint8_t* rgb) {
  PlanesToRgbRow(r, g, b, count, {rgb, rgb + 1, rgb + 2}, 3);
}

}  // namespace infeed
