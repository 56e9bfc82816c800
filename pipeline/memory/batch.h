#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/memory/batch_parts.h"
#include "preprocess/pixels/image_size.h"
#include "preprocess/recipe/geometry.h"
#include "records/example/fields.h"

namespace infeed {

class PageMemory;

// One batch: plain memory, filled slot by slot; its content is unspecified
// until then. Owns the memory, whose parts are each aligned to 64 bytes.
// One thread at a time; different slots may be filled at once.
class Batch {
 public:
  // Throws std::bad_alloc, and what memory.pin throws.
  explicit Batch(BatchSpec spec, const BatchMemory& memory = {});
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  Batch(Batch&&) noexcept;
  // Deleted: it would free the old memory before unpinning it.
  Batch& operator=(Batch&&) = delete;

  // A batch with the same content in memory of its own, which is not pinned.
  // Throws std::bad_alloc.
  [[nodiscard]] std::unique_ptr<Batch> Clone() const;
  // What CopyPlan() copies, labels and weights, in memory of its own: images,
  // views and fixed fields are empty. For when a device has those. Throws
  // std::bad_alloc.
  [[nodiscard]] std::unique_ptr<Batch> ClonePlan() const;

  // Where all parts of fixed size lie; mapped while the batch or the pointer
  // exists.
  [[nodiscard]] std::shared_ptr<const PageMemory> memory() const;

  // Bytes of memory that such a batch takes.
  [[nodiscard]] static std::int64_t MemoryBytes(const BatchSpec& spec);

  // [size, height, width], each R << 24 | G << 16 | B << 8; for choices [size],
  // and labels and weights are unused; for kRgb and kNone empty.
  [[nodiscard]] std::span<std::uint32_t> pixels() { return pixels_; }
  [[nodiscard]] std::span<const std::uint32_t> pixels() const {
    return pixels_;
  }
  // [height, width] of one slot. Requires: the content is kPixels or kChoices.
  [[nodiscard]] std::span<std::uint32_t> slot_pixels(int slot);
  // [size, height, width, 3], bytes R G B; empty unless the content is kRgb.
  [[nodiscard]] std::span<std::uint8_t> rgb() { return rgb_; }
  [[nodiscard]] std::span<const std::uint8_t> rgb() const { return rgb_; }
  // [height, width, 3] of one slot. Requires: the content is kRgb.
  [[nodiscard]] std::span<std::uint8_t> slot_rgb(int slot);
  // The bytes of pixels() or rgb(), whichever the content is.
  [[nodiscard]] std::span<const std::byte> image_bytes() const;
  // Bytes of a slot's image and views.
  [[nodiscard]] std::size_t slot_image_bytes() const;
  // [size]; from 0, or -1 in a slot of weight 0.
  [[nodiscard]] std::span<std::int32_t> labels() { return labels_; }
  [[nodiscard]] std::span<const std::int32_t> labels() const { return labels_; }
  // [size]; 1, or 0 for a slot that loss, metrics and counts ignore.
  [[nodiscard]] std::span<float> weights() { return weights_; }
  [[nodiscard]] std::span<const float> weights() const { return weights_; }
  // [size]; the record of the RecordIndex whose image is in the slot, which is
  // the substitute's for a bad record; -1: none.
  [[nodiscard]] std::span<std::int64_t> records() { return records_; }
  [[nodiscard]] std::span<const std::int64_t> records() const {
    return records_;
  }
  // [size]; the sample's position, over all ranks, counted from the beginning
  // of `epoch`; -1 in padding. A position at or past the epoch's end (of a last
  // batch that is filled up) starts the order over; with last_batch=carry it is
  // in the next epoch, as many positions after its beginning as it is past.
  [[nodiscard]] std::span<std::int64_t> positions() { return positions_; }
  [[nodiscard]] std::span<const std::int64_t> positions() const {
    return positions_;
  }

  // [size]; a hash of what each slot was filled with: record, label, place in
  // the stream, window and draws, and, with input_hash=pixels, its pixels; 0:
  // the slot is empty.
  [[nodiscard]] std::span<std::uint64_t> fingerprints() {
    return fingerprints_;
  }
  [[nodiscard]] std::span<const std::uint64_t> fingerprints() const {
    return fingerprints_;
  }
  // Their sum modulo 2^64. The sum over all ranks is that of the global batch.
  [[nodiscard]] std::uint64_t fingerprint() const;

  [[nodiscard]] int size() const { return spec_.size; }
  [[nodiscard]] const ImageSize& image_size() const { return spec_.image_size; }
  [[nodiscard]] BatchContent content() const { return spec_.content; }

  // A black image, label -1, weight 0, record -1, fingerprint 0; fixed fields
  // are padding, of length 0; views are black, or their fill.
  void BlankSlot(int slot);

  // InputOptions::fields.
  [[nodiscard]] const std::vector<FieldSpec>& field_specs() const {
    return spec_.fields;
  }
  // For each of them, if it is ragged, the values of all slots, a list a slot;
  // empty lists for slots of weight 0.
  [[nodiscard]] std::vector<FieldColumn>& fields() { return fields_; }
  [[nodiscard]] const std::vector<FieldColumn>& fields() const {
    return fields_;
  }
  // [size, *shape] of a fixed field, by its number.
  [[nodiscard]] std::span<std::byte> fixed(std::size_t field) {
    return fixed_[field].rows;
  }
  [[nodiscard]] std::span<const std::byte> fixed(std::size_t field) const {
    return fixed_[field].rows;
  }
  // [size]: the values of a fixed field's slots that are not padding.
  [[nodiscard]] std::span<std::int64_t> lengths(std::size_t field) {
    return fixed_[field].lengths;
  }
  [[nodiscard]] std::span<const std::int64_t> lengths(std::size_t field) const {
    return fixed_[field].lengths;
  }
  // Where a fixed field of the slot is.
  [[nodiscard]] FieldPlace fixed_place(std::size_t field, int slot);

  // The boxes of all slots (InputOptions::objects); none in slots of weight 0.
  [[nodiscard]] BoxColumn& boxes() { return boxes_; }
  [[nodiscard]] const BoxColumn& boxes() const { return boxes_; }
  // [size]: how each slot's view was made, 0 being its image, and i + 1 number
  // i of view_shapes(); of padding and without images empty.
  [[nodiscard]] std::span<Geometry> geometry(std::size_t view = 0) {
    return geometry_[view];
  }
  [[nodiscard]] std::span<const Geometry> geometry(std::size_t view = 0) const {
    return geometry_[view];
  }

  // The views of each sample beside its image (InputOptions::views). The
  // functions below take a view's number among them, from 0.
  [[nodiscard]] const std::vector<ViewShape>& view_shapes() const {
    return spec_.views;
  }
  // [size, height, width]: words, bytes R G B, or labels.
  [[nodiscard]] std::span<std::byte> view(std::size_t view) {
    return views_[view];
  }
  [[nodiscard]] std::span<const std::byte> view(std::size_t view) const {
    return views_[view];
  }
  // [height, width] of one slot.
  [[nodiscard]] std::span<std::byte> slot_view(std::size_t view, int slot);

  // Copies epoch, number, next, fed, records, positions, fingerprints, fields,
  // boxes and geometry. Requires: sizes, and numbers of views, are equal.
  void CopyPlan(const Batch& from);

  // The epoch, and the number of the global batch in it, from 0.
  std::uint32_t epoch = 0;
  std::int64_t number = 0;
  // The stream's position after this batch: a checkpoint stores it once the
  // batch is consumed.
  StreamPosition next;
  // The stream's fingerprint after this batch: the sum of its batches' so far.
  std::uint64_t fed = 0;

 private:
  struct Memory;
  // A fixed field; empty for others.
  struct Fixed {
    std::span<std::byte> rows;
    std::span<std::int64_t> lengths;
    std::size_t row_bytes = 0;
  };

  BatchSpec spec_;
  std::unique_ptr<Memory> memory_;
  std::span<std::uint32_t> pixels_;
  std::span<std::uint8_t> rgb_;
  std::span<std::int32_t> labels_;
  std::span<float> weights_;
  std::vector<std::int64_t> records_;
  std::vector<std::int64_t> positions_;
  std::vector<std::uint64_t> fingerprints_;
  std::vector<Fixed> fixed_;
  std::vector<FieldColumn> fields_;
  BoxColumn boxes_;
  std::vector<std::vector<Geometry>> geometry_;  // of the image and each view
  std::vector<std::span<std::byte>> views_;
};

}  // namespace infeed
