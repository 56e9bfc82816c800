#include "python/module/batch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include "base/error.h"

namespace infeed::python {
namespace {

namespace nb = nanobind;

using Self = nb::handle_t<Batch>;

Batch& BatchOf(Self self) { return nb::cast<Batch&>(self); }

template <typename T>
nb::ndarray<nb::numpy, T> Share(Self self, std::span<T> values,
                                std::initializer_list<std::size_t> shape) {
  return nb::ndarray<nb::numpy, T>(values.data(), shape, self);
}

// An array with one value for each slot.
template <auto kValues>
auto Column(Self self) {
  Batch& batch = BatchOf(self);
  return Share(self, (batch.*kValues)(),
               {static_cast<std::size_t>(batch.size())});
}

// A view's array, [N, H, W], or of RGB [N, H, W, 3].
nb::object Pixels(Self self, void* values, const ImageSize& size,
                  ViewContent content) {
  const Batch& batch = BatchOf(self);
  const bool is_rgb =
      content == ViewContent::kImage && batch.content() == BatchContent::kRgb;
  const std::array shape = {static_cast<std::size_t>(batch.size()),
                            static_cast<std::size_t>(size.height),
                            static_cast<std::size_t>(size.width),
                            std::size_t{3}};
  auto type = nb::dtype<std::uint32_t>();  // words
  if (is_rgb || content == ViewContent::kLabels8) {
    type = nb::dtype<std::uint8_t>();
  } else if (content == ViewContent::kLabels32) {
    type = nb::dtype<std::int32_t>();
  }
  return nb::cast(nb::ndarray<nb::numpy>(values, is_rgb ? 4 : 3, shape.data(),
                                         self, nullptr, type));
}

// View 0 is the batch's image: None in a batch without images, and in a plan.
nb::object Images(Self self, std::size_t view) {
  Batch& batch = BatchOf(self);
  if (batch.image_bytes().empty()) {
    return nb::none();
  }
  if (view > 0) {
    const ViewShape& shape = batch.view_shapes().at(view - 1);
    return Pixels(self, batch.view(view - 1).data(), shape.image_size,
                  shape.content);
  }
  void* const values = batch.content() == BatchContent::kRgb
                           ? static_cast<void*>(batch.rgb().data())
                           : batch.pixels().data();
  return Pixels(self, values, batch.image_size(), ViewContent::kImage);
}

nb::list TextsOf(const FieldColumn& column) {
  nb::list texts;
  for (std::size_t i = 0; i + 1 < column.byte_offsets.size(); ++i) {
    const auto begin = static_cast<std::size_t>(column.byte_offsets[i]);
    const auto end = static_cast<std::size_t>(column.byte_offsets[i + 1]);
    texts.append(nb::bytes(column.bytes.data() + begin, end - begin));
  }
  return texts;
}

// A ragged field's values, and the beginning of each slot's values, [N + 1].
nb::tuple FieldAt(Self self, std::size_t number) {
  Batch& batch = BatchOf(self);
  FieldColumn& column = batch.fields().at(number);
  nb::object values;
  switch (batch.field_specs().at(number).kind) {
    case FeatureKind::kInt64:
      values = nb::cast(
          Share(self, std::span(column.int64s), {column.int64s.size()}));
      break;
    case FeatureKind::kFloat:
      values = nb::cast(
          Share(self, std::span(column.floats), {column.floats.size()}));
      break;
    default:
      values = TextsOf(column);
  }
  return nb::make_tuple(
      values, Share(self, std::span(column.offsets), {column.offsets.size()}));
}

// Each slot's boxes, one slot after the other, and the beginning of each
// slot's, [N + 1].
nb::tuple Boxes(Self self) {
  BoxColumn& boxes = BatchOf(self).boxes();
  return nb::make_tuple(
      Share(self, std::span(boxes.xyxy), {boxes.xyxy.size() / 4, 4}),
      Share(self, std::span(boxes.offsets), {boxes.offsets.size()}));
}

// An array with memory of its own.
template <typename T>
nb::ndarray<nb::numpy, T> Keep(std::vector<T> values,
                               std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const first = kept->data();
  const nb::capsule owner(kept.get(), [](void* owned) noexcept {
    delete static_cast<std::vector<T>*>(owned);
  });
  (void)kept.release();
  return nb::ndarray<nb::numpy, T>(first, shape, owner);
}

const ImageSize& SizeOf(const Batch& batch, std::size_t view) {
  return view == 0 ? batch.image_size()
                   : batch.view_shapes().at(view - 1).image_size;
}

std::span<const Geometry> GeometryOf(const Batch& batch, std::size_t view) {
  (void)SizeOf(batch, view);  // throws for a view that is not there
  return batch.geometry(view);
}

constexpr std::size_t kGeometryNumbers = 12;

nb::ndarray<nb::numpy, std::int32_t> GeometryRows(Self self, std::size_t view) {
  const std::span<const Geometry> slots = GeometryOf(BatchOf(self), view);
  std::vector<std::int32_t> rows;
  for (const Geometry& slot : slots) {
    for (const int number :
         {slot.source.height, slot.source.width, slot.window.y, slot.window.x,
          slot.window.height, slot.window.width, slot.resized.height,
          slot.resized.width, slot.y, slot.x, slot.is_mirrored ? 1 : 0,
          slot.is_upside_down ? 1 : 0}) {
      rows.push_back(number);
    }
  }
  return Keep(std::move(rows), {slots.size(), kGeometryNumbers});
}

// Zeros for an empty slot.
nb::ndarray<nb::numpy, double> Matrices(Self self, std::size_t view) {
  const Batch& batch = BatchOf(self);
  const std::span<const Geometry> slots = GeometryOf(batch, view);
  std::vector<double> numbers;
  for (const Geometry& slot : slots) {
    const AffineMatrix matrix =
        slot == Geometry() ? AffineMatrix() : slot.Matrix(SizeOf(batch, view));
    for (const auto& row : matrix) {
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
  }
  return Keep(std::move(numbers), {slots.size(), 2, 3});
}

nb::dlpack::dtype DtypeOf(ItemType type) {
  using Code = nb::dlpack::dtype_code;
  Code code = Code::Int;
  switch (type) {
    case ItemType::kInt64:
    case ItemType::kInt32:
    case ItemType::kInt16:
    case ItemType::kInt8:
      break;
    case ItemType::kUint16:
    case ItemType::kUint8:
      code = Code::UInt;
      break;
    case ItemType::kBool:
      code = Code::Bool;
      break;
    case ItemType::kFloat32:
    case ItemType::kFloat64:
    case ItemType::kFloat16:
      code = Code::Float;
      break;
  }
  return {.code = static_cast<std::uint8_t>(code),
          .bits = static_cast<std::uint8_t>(8 * ItemBytes(type)),
          .lanes = 1};
}

// A fixed field's array, [N, *shape].
nb::ndarray<nb::numpy> FixedAt(Self self, std::size_t number) {
  Batch& batch = BatchOf(self);
  const FieldSpec& field = batch.field_specs().at(number);
  Check(field.IsFixed(), "the field is fixed");
  std::vector<std::size_t> shape = {static_cast<std::size_t>(batch.size())};
  for (const std::int64_t side : *field.shape) {
    shape.push_back(static_cast<std::size_t>(side));
  }
  return {batch.fixed(number).data(),
          shape.size(),
          shape.data(),
          self,
          nullptr,  // row-major
          DtypeOf(field.type)};
}

// How many of each slot's values of a fixed field are not padding, [N].
nb::ndarray<nb::numpy, std::int64_t> LengthsAt(Self self, std::size_t number) {
  Batch& batch = BatchOf(self);
  Check(batch.field_specs().at(number).IsFixed(), "the field is fixed");
  const std::span<std::int64_t> lengths = batch.lengths(number);
  return Share(self, lengths, {lengths.size()});
}

std::tuple<std::uint32_t, std::int64_t, std::uint32_t, std::uint64_t> Next(
    const Batch& batch) {
  return {batch.next.epoch, batch.next.position, batch.next.past_epochs,
          batch.fed};
}

template <typename T>
using Values = std::span<T> (Batch::*)();

Loan Plan(const Batch& batch) { return batch.ClonePlan(); }

}  // namespace

void AddBatch(nb::module_& module) {
  nb::class_<Batch>(module, "Batch",
                    "A batch on loan: nothing overwrites its arrays while one "
                    "of them exists.")
      .def("images", &Images, nb::arg("view"),
           nb::sig("def images(self, view: int) -> typing.Any"),
           "uint8 [N, H, W, 3], or uint32 [N, H, W] of R << 24 | G << 16 | B "
           "<< 8; labels of pixels: uint8 or int32 [N, H, W]; None without "
           "images.")
      .def_prop_ro("labels",
                   &Column<static_cast<Values<std::int32_t>>(&Batch::labels)>,
                   "int32 [N], from 0; -1 in a slot of weight 0.")
      .def_prop_ro("weights",
                   &Column<static_cast<Values<float>>(&Batch::weights)>,
                   "float32 [N]: 1, or 0 for a slot to ignore.")
      .def_prop_ro("ids",
                   &Column<static_cast<Values<std::int64_t>>(&Batch::records)>,
                   "int64 [N]: the record in the index that a slot holds, or "
                   "-1.")
      .def_prop_ro(
          "positions",
          &Column<static_cast<Values<std::int64_t>>(&Batch::positions)>,
          "int64 [N]: the sample's position in the epoch, or -1.")
      .def("field", &FieldAt,
           nb::sig("def field(self, number: int) -> tuple[typing.Any, "
                   "typing.Any]"),
           "The values of a ragged field, and where each slot's begin.")
      .def("fixed", &FixedAt,
           nb::sig("def fixed(self, number: int) -> typing.Any"),
           "[N, *shape] of a fixed field.")
      .def("lengths", &LengthsAt,
           nb::sig("def lengths(self, number: int) -> typing.Any"),
           "int64 [N] of a fixed field: its values that are not padding.")
      .def_prop_ro("boxes", &Boxes,
                   nb::for_getter(nb::sig("def boxes(self) -> "
                                          "tuple[typing.Any, typing.Any]")),
                   "float32 [M, 4], x1, y1, x2, y2, and int64 [N + 1].")
      .def("geometry", &GeometryRows, nb::arg("view"),
           nb::sig("def geometry(self, view: int) -> typing.Any"),
           "int32 [N, 12]: the source's height and width; the window's y, x, "
           "height and width; its size after the resize; the output's y and x "
           "in that; whether mirrored; whether upside down.")
      .def("matrices", &Matrices, nb::arg("view"),
           nb::sig("def matrices(self, view: int) -> typing.Any"),
           "float64 [N, 2, 3]: from the source to the output.")
      .def("plan", &Plan,
           "Its labels, weights and ragged fields, and how it was made, in "
           "memory of their own; without images and fixed fields.")
      .def_ro("epoch", &Batch::epoch)
      .def_ro("number", &Batch::number, "In its epoch, from 0.")
      .def_prop_ro("next", &Next,
                   "The place after this batch: epoch, position, past "
                   "epochs, fingerprint of all until then.")
      .def_prop_ro("fingerprint", &Batch::fingerprint,
                   "A hash of what its slots were filled with.")
      .def("__len__", &Batch::size);
}

}  // namespace infeed::python
