#include "pipeline/remote/fill_header.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "pipeline/remote/wire_fields.h"
#include "records/example/wire_cursor.h"

namespace infeed {
namespace {

constexpr std::size_t kDeclinedBits = 64;
constexpr std::size_t kGeometryNumbers = 12;
constexpr std::size_t kMostVarint = 5;  // bytes of 32 bits

// worker.proto's WorkerFillHeader, whose numbers of fields follow.
struct HeaderMessage {
  std::uint32_t slots = 0;
  std::uint64_t declined = 0;
  std::uint32_t credit = 0;
  std::uint64_t cpu_nanoseconds = 0;
  std::vector<std::int32_t> labels = {};
  std::vector<std::uint32_t> sums = {};
  std::vector<std::int32_t> geometry = {};
  std::vector<std::uint32_t> counts = {};
  std::vector<std::int64_t> int64s = {};
  std::vector<float> floats = {};
  std::vector<std::uint32_t> byte_counts = {};
  std::string bytes = {};
  std::uint32_t cut_lists = 0;
  std::vector<std::uint64_t> fingerprints = {};
};

std::string SerializeMessage(const HeaderMessage& header) {
  WireWriter message;
  message.AddVarint(1, header.slots);
  message.AddFixed64(2, header.declined);
  message.AddVarint(3, header.credit);
  message.AddVarint(4, header.cpu_nanoseconds);
  message.AddSints(5, header.labels);
  message.AddFixed(6, header.sums);
  message.AddSints(7, header.geometry);
  message.AddVarints(8, header.counts);
  message.AddFixed(9, header.int64s);
  message.AddFixed(10, header.floats);
  message.AddVarints(11, header.byte_counts);
  message.AddBytes(12, header.bytes);
  message.AddVarint(13, header.cut_lists);
  message.AddFixed(14, header.fingerprints);
  return message.Take();
}

HeaderMessage ParseMessage(std::string_view bytes) {
  HeaderMessage header;
  const WireCursor message(std::as_bytes(std::span(bytes)),
                           "a worker's reply: not such a message");
  ForEachField(message, [&](WireField field) {
    return field.TakeUint32(1, header.slots) ||
           field.TakeFixed64(2, header.declined) ||
           field.TakeUint32(3, header.credit) ||
           field.Take(4, WireType::kVarint,
                      [&](WireCursor& from) {
                        header.cpu_nanoseconds = from.TakeVarint();
                      }) ||
           field.TakeSints(5, header.labels) ||
           field.TakeFixed(6, header.sums) ||
           field.TakeSints(7, header.geometry) ||
           field.TakeVarints(8, header.counts) ||
           field.TakeFixed(9, header.int64s) ||
           field.TakeFixed(10, header.floats) ||
           field.TakeVarints(11, header.byte_counts) ||
           field.TakeText(12, header.bytes) ||
           field.TakeUint32(13, header.cut_lists) ||
           field.TakeFixed(14, header.fingerprints);
  });
  return header;
}

void RequireSize(std::size_t size, std::size_t wanted, const char* what) {
  if (size != wanted) {
    throw DataError("a worker's reply has " + std::to_string(size) + " " +
                    what + ", not " + std::to_string(wanted));
  }
}

std::array<std::int32_t, kGeometryNumbers> NumbersOf(const Geometry& geometry) {
  const Window& window = geometry.window;
  return {geometry.source.height,
          geometry.source.width,
          window.y,
          window.x,
          window.height,
          window.width,
          geometry.resized.height,
          geometry.resized.width,
          geometry.y,
          geometry.x,
          (geometry.is_mirrored ? 1 : 0) + (geometry.is_upside_down ? 2 : 0),
          geometry.padding};
}

// Requires: twelve numbers.
Geometry GeometryFrom(const std::int32_t* numbers) {
  constexpr std::int32_t kMostTurns = 3;
  if (numbers[10] < 0 || numbers[10] > kMostTurns) {
    throw DataError("a worker's reply has a geometry that is none");
  }
  return {.source = {numbers[0], numbers[1]},
          .window = {.y = numbers[2],
                     .x = numbers[3],
                     .height = numbers[4],
                     .width = numbers[5]},
          .resized = {numbers[6], numbers[7]},
          .y = numbers[8],
          .x = numbers[9],
          .is_mirrored = (numbers[10] & 1) != 0,
          .is_upside_down = (numbers[10] & 2) != 0,
          .padding = NumberFrom<std::int16_t>(numbers[11], "padding")};
}

template <typename Number>
void Append(const std::vector<Number>& numbers, std::vector<Number>& all) {
  all.insert(all.end(), numbers.begin(), numbers.end());
}

// Appends a list's values to the header's.
void AddList(const FieldSpec& spec, const FieldColumn& column,
             HeaderMessage& header) {
  if (spec.IsFixed()) {
    return;
  }
  header.counts.push_back(static_cast<std::uint32_t>(column.values()));
  Append(column.int64s, header.int64s);
  Append(column.floats, header.floats);
  for (std::size_t i = 1; i < column.byte_offsets.size(); ++i) {
    header.byte_counts.push_back(static_cast<std::uint32_t>(
        column.byte_offsets[i] - column.byte_offsets[i - 1]));
  }
  header.bytes.append(column.bytes);
}

void AddBoxes(const FieldColumn& column, HeaderMessage& header) {
  header.counts.push_back(static_cast<std::uint32_t>(column.floats.size() / 4));
  Append(column.floats, header.floats);
}

// Reads the lists of a header's slots one after the other.
class ListReader {
 public:
  ListReader(const InputOptions& options, const HeaderMessage& header)
      : options_(options), header_(header) {}

  // FillHeader::lists of the next slot.
  std::vector<FieldColumn> Next() {
    budget_ = static_cast<std::size_t>(RaggedBytes(options_));
    std::vector<FieldColumn> lists(options_.fields.size() + 1);
    for (std::size_t i = 0; i < options_.fields.size(); ++i) {
      if (!options_.fields[i].IsFixed()) {
        ReadList(options_.fields[i].kind, lists[i]);
      }
    }
    ReadBoxes(lists.back().floats);
    return lists;
  }

  // Throws if values are left.
  void Finish() const {
    Require(count_ == header_.counts.size() &&
            int64_ == header_.int64s.size() &&
            float_ == header_.floats.size() &&
            byte_count_ == header_.byte_counts.size() &&
            byte_ == header_.bytes.size());
  }

 private:
  static constexpr std::size_t kNumber = 8;  // bytes, as FieldReader counts

  static void Require(bool condition) {
    if (!condition) {
      throw DataError("a worker's reply has lists of another length");
    }
  }

  std::size_t Count() {
    Require(count_ < header_.counts.size());
    return header_.counts[count_++];
  }

  // Takes `count` of all values of a kind, from `next` on.
  template <typename Value>
  void Take(const std::vector<Value>& values, std::size_t count,
            std::size_t& next, std::vector<Value>& taken) {
    Require(count <= values.size() - next && count <= budget_ / kNumber);
    budget_ -= count * kNumber;
    const Value* const from = values.data() + next;
    taken.assign(from, from + count);
    next += count;
  }

  void TakeBytes(std::size_t count, FieldColumn& column) {
    for (std::size_t i = 0; i < count; ++i) {
      Require(byte_count_ < header_.byte_counts.size());
      const std::size_t bytes = header_.byte_counts[byte_count_++];
      Require(bytes <= header_.bytes.size() - byte_ &&
              bytes + kNumber <= budget_);
      budget_ -= bytes + kNumber;
      column.bytes.append(header_.bytes, byte_, bytes);
      column.byte_offsets.push_back(std::ssize(column.bytes));
      byte_ += bytes;
    }
  }

  void ReadList(FeatureKind kind, FieldColumn& column) {
    const std::size_t count = Count();
    if (kind == FeatureKind::kInt64) {
      Take(header_.int64s, count, int64_, column.int64s);
    } else if (kind == FeatureKind::kFloat) {
      Take(header_.floats, count, float_, column.floats);
    } else {
      TakeBytes(count, column);
    }
    column.offsets.push_back(static_cast<std::int64_t>(count));
  }

  void ReadBoxes(std::vector<float>& boxes) {
    const std::size_t count = Count();
    Require(count == 0 || options_.objects.is_on());
    Take(header_.floats, 4 * count, float_, boxes);
    if (!std::ranges::all_of(boxes, [](float x) { return std::isfinite(x); })) {
      throw DataError("a worker's reply has a box that is not finite");
    }
  }

  const InputOptions& options_;
  const HeaderMessage& header_;
  std::size_t budget_ = 0;  // bytes left for the slot's record
  // The next of all slots' values.
  std::size_t count_ = 0;
  std::size_t int64_ = 0;
  std::size_t float_ = 0;
  std::size_t byte_count_ = 0;
  std::size_t byte_ = 0;
};

// Throws for a class that no record of the stream has.
void CheckLabel(std::int32_t label, const InputOptions& options) {
  const bool reads = ReadsLabels(options);
  const int least = reads && options.require_labels ? 0 : -1;
  const int classes = options.num_label_classes > 0
                          ? options.num_label_classes
                          : std::numeric_limits<std::int32_t>::max();
  if (label < least || label >= (reads ? classes : 0)) {
    throw DataError("a worker's reply has the label " + std::to_string(label));
  }
}

std::vector<Geometry> GeometryOfSlot(const HeaderMessage& header,
                                     std::size_t slot, std::size_t count) {
  std::vector<Geometry> geometry;
  const std::int32_t* const numbers = header.geometry.data();
  for (std::size_t i = slot * count; i < (slot + 1) * count; ++i) {
    geometry.push_back(GeometryFrom(numbers + i * kGeometryNumbers));
  }
  return geometry;
}

// Of the image and each view.
std::size_t GeometriesOf(const InputOptions& options) {
  return options.layout == BatchContent::kNone ? 0 : 1 + options.views.size();
}

}  // namespace

std::string Serialize(const FillHeader& header,
                      const std::vector<FieldSpec>& specs) {
  HeaderMessage message = {
      .slots = static_cast<std::uint32_t>(header.labels.size()),
      .declined = header.declined,
      .credit = static_cast<std::uint32_t>(header.note.credit),
      .cpu_nanoseconds =
          static_cast<std::uint64_t>(header.note.cpu_nanoseconds),
      .labels = header.labels,
      .sums = header.sums,
      .cut_lists = static_cast<std::uint32_t>(header.note.cut_lists),
      .fingerprints = header.fingerprints};
  for (const std::vector<Geometry>& of_slot : header.geometry) {
    for (const Geometry& geometry : of_slot) {
      const auto numbers = NumbersOf(geometry);
      message.geometry.insert(message.geometry.end(), numbers.begin(),
                              numbers.end());
    }
  }
  for (const std::vector<FieldColumn>& lists : header.lists) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      AddList(specs[i], lists[i], message);
    }
    AddBoxes(lists[specs.size()], message);
  }
  return SerializeMessage(message);
}

FillHeader ParseFillHeader(const std::string& bytes,
                           const InputOptions& options, std::size_t slots) {
  HeaderMessage message = ParseMessage(bytes);
  const std::size_t geometries = GeometriesOf(options);
  RequireSize(message.slots, slots, "slots");
  RequireSize(message.labels.size(), slots, "labels");
  RequireSize(message.sums.size(), slots, "sums");
  RequireSize(message.fingerprints.size(), slots, "fingerprints");
  RequireSize(message.geometry.size(), slots * geometries * kGeometryNumbers,
              "numbers of geometry");
  FillHeader header = {
      .note = {.credit = NumberFrom<int>(message.credit, "credit"),
               .cpu_nanoseconds = NumberFrom<std::int64_t>(
                   message.cpu_nanoseconds, "the CPU's time"),
               .cut_lists = NumberFrom<int>(message.cut_lists, "cut lists")},
      .declined = message.declined,
      .labels = std::move(message.labels),
      .sums = std::move(message.sums),
      .fingerprints = std::move(message.fingerprints)};
  if (slots < kDeclinedBits && header.declined >> slots != 0) {
    throw DataError("a worker's reply declines slots that it does not have");
  }
  ListReader lists(options, message);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (!header.is_declined(slot)) {
      CheckLabel(header.labels[slot], options);
    }
    header.geometry.push_back(GeometryOfSlot(message, slot, geometries));
    header.lists.push_back(lists.Next());
  }
  lists.Finish();
  return header;
}

std::size_t MostHeaderBytes(const InputOptions& options, std::size_t slots) {
  constexpr std::size_t kOnce = 256;  // tags, lengths and single numbers
  const std::size_t varints =
      1 + GeometriesOf(options) * kGeometryNumbers + options.fields.size() + 1;
  return kOnce + slots * (varints * kMostVarint + sizeof(std::uint32_t) +
                          sizeof(std::uint64_t) +
                          static_cast<std::size_t>(RaggedBytes(options)));
}

}  // namespace infeed
