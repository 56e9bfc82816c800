#include "pipeline/remote/slot_parts.h"

#include <cstdint>

namespace infeed {
namespace {

constexpr std::size_t kRgbBytes = 3;

std::size_t ViewBytesOf(const ViewShape& view) {
  const std::size_t pixel = view.content == ViewContent::kImage ? kRgbBytes
                            : view.content == ViewContent::kLabels8
                                ? sizeof(std::uint8_t)
                                : sizeof(std::int32_t);
  return view.image_size.pixels() * pixel;
}

// One list of a column.
FieldColumn ListOf(const FieldColumn& from, std::size_t at) {
  const auto begin = from.offsets[at];
  const auto end = from.offsets[at + 1];
  FieldColumn list;
  if (!from.int64s.empty()) {
    list.int64s.assign(from.int64s.begin() + begin, from.int64s.begin() + end);
  }
  if (!from.floats.empty()) {
    list.floats.assign(from.floats.begin() + begin, from.floats.begin() + end);
  }
  if (from.byte_offsets.size() > 1) {
    const auto byte_at = [&from](std::int64_t value) {
      return from.byte_offsets[static_cast<std::size_t>(value)];
    };
    const std::int64_t first = byte_at(begin);
    list.bytes =
        from.bytes.substr(static_cast<std::size_t>(first),
                          static_cast<std::size_t>(byte_at(end) - first));
    for (std::int64_t value = begin + 1; value <= end; ++value) {
      list.byte_offsets.push_back(byte_at(value) - first);
    }
  }
  list.offsets.push_back(end - begin);
  return list;
}

}  // namespace

std::vector<BodyPart> PartsOf(const BatchSpec& spec, std::size_t slots) {
  using enum BodyPart::Of;
  std::vector<BodyPart> parts;
  std::size_t begin = 0;
  const auto add = [&](BodyPart::Of of, std::size_t number, bool is_rgb,
                       std::size_t slot_bytes) {
    parts.push_back({of, number, is_rgb, slot_bytes, begin});
    begin += slots * slot_bytes;
  };
  if (spec.content != BatchContent::kNone) {
    add(kImage, 0, true, spec.image_size.pixels() * kRgbBytes);
  }
  for (std::size_t i = 0; i < spec.views.size(); ++i) {
    const ViewShape& view = spec.views[i];
    add(kView, i, view.content == ViewContent::kImage, ViewBytesOf(view));
  }
  for (const BodyPart::Of of : {kRow, kLength}) {
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      const FieldSpec& field = spec.fields[i];
      if (field.IsFixed()) {
        add(of, i, false,
            of == kRow ? field.row_bytes() : sizeof(std::int64_t));
      }
    }
  }
  return parts;
}

std::size_t BodyBytes(const std::vector<BodyPart>& parts, std::size_t slots) {
  return parts.empty() ? 0 : parts.back().BeginOf(slots);
}

std::span<const std::byte> BytesOf(const BodyPart& part, const Batch& batch) {
  switch (part.of) {
    case BodyPart::Of::kImage:
      return std::as_bytes(batch.rgb());
    case BodyPart::Of::kView:
      return batch.view(part.number);
    case BodyPart::Of::kRow:
      return batch.fixed(part.number);
    case BodyPart::Of::kLength:
      break;
  }
  return std::as_bytes(batch.lengths(part.number));
}

std::span<std::byte> PlaceOf(const BodyPart& part, int slot, Batch& batch) {
  switch (part.of) {
    case BodyPart::Of::kImage:
      return batch.content() == BatchContent::kRgb
                 ? std::as_writable_bytes(batch.slot_rgb(slot))
                 : std::as_writable_bytes(batch.slot_pixels(slot));
    case BodyPart::Of::kView:
      return batch.slot_view(part.number, slot);
    case BodyPart::Of::kRow:
      return batch.fixed_place(part.number, slot).row;
    case BodyPart::Of::kLength:
      break;
  }
  return std::as_writable_bytes(
      batch.lengths(part.number).subspan(static_cast<std::size_t>(slot), 1));
}

std::vector<FieldColumn> ListsOf(const Batch& batch, int slot) {
  const auto at = static_cast<std::size_t>(slot);
  const std::vector<FieldSpec>& specs = batch.field_specs();
  std::vector<FieldColumn> lists(specs.size() + 1);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].IsFixed()) {
      lists[i] = ListOf(batch.fields()[i], at);
    }
  }
  const BoxColumn& boxes = batch.boxes();
  lists.back().floats.assign(boxes.xyxy.begin() + 4 * boxes.offsets[at],
                             boxes.xyxy.begin() + 4 * boxes.offsets[at + 1]);
  return lists;
}

}  // namespace infeed
