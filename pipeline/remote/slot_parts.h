#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pipeline/memory/batch.h"
#include "records/example/fields.h"

// What a slot consists of, between a batch and a reply.
namespace infeed {

// A part of a reply's body: the same of each slot, one slot after the other.
struct BodyPart {
  enum class Of { kImage, kView, kRow, kLength };

  Of of;
  std::size_t number;      // of the view or field
  bool is_rgb;             // an image, which words are made of
  std::size_t slot_bytes;  // for each slot
  std::size_t begin;       // in the body

  [[nodiscard]] std::size_t BeginOf(std::size_t slot) const {
    return begin + slot * slot_bytes;
  }
};

// The parts of a body of so many slots, whatever the layout of their batch is.
[[nodiscard]] std::vector<BodyPart> PartsOf(const BatchSpec& spec,
                                            std::size_t slots);

[[nodiscard]] std::size_t BodyBytes(const std::vector<BodyPart>& parts,
                                    std::size_t slots);

// The bytes of a part, of all slots of a batch. Requires: its content is kRgb
// or kNone.
[[nodiscard]] std::span<const std::byte> BytesOf(const BodyPart& part,
                                                 const Batch& batch);

// Where a part of a slot is in a batch of any layout.
[[nodiscard]] std::span<std::byte> PlaceOf(const BodyPart& part, int slot,
                                           Batch& batch);

// A slot's lists: a column for each field, empty for those with a shape, then
// one with the floats of its boxes. Requires: the batch's fields are gathered.
[[nodiscard]] std::vector<FieldColumn> ListsOf(const Batch& batch, int slot);

}  // namespace infeed
