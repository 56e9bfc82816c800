#include "pipeline/remote/messages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "pipeline/remote/fill_header.h"
#include "pipeline/remote/joined_pieces.h"
#include "pipeline/remote/worker.pb.h"

namespace infeed {
namespace {

constexpr std::size_t kMostSlots = 64;
constexpr std::size_t kGeometryNumbers = 12;
constexpr std::size_t kMostVarint = 5;  // bytes of 32 bits

template <typename Message>
Message ParseMessage(std::string_view bytes, const char* what) {
  Message message;
  // protobuf counts in int.
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw DataError(std::string(what) + ": not such a message");
  }
  return message;
}

// A number in the type that it has here.
template <typename To, typename From>
To NumberFrom(From value, const char* what) {
  if (!std::in_range<To>(value)) {
    throw DataError(std::string(what) + " is too large");
  }
  return static_cast<To>(value);
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

// Appends a list's values to the header's.
void AddList(const FieldSpec& spec, const FieldColumn& column,
             WorkerFillHeader& header) {
  if (spec.IsFixed()) {
    return;
  }
  header.add_counts(static_cast<std::uint32_t>(column.values()));
  header.mutable_int64s()->Add(column.int64s.begin(), column.int64s.end());
  header.mutable_floats()->Add(column.floats.begin(), column.floats.end());
  for (std::size_t i = 1; i < column.byte_offsets.size(); ++i) {
    header.add_byte_counts(static_cast<std::uint32_t>(
        column.byte_offsets[i] - column.byte_offsets[i - 1]));
  }
  header.mutable_bytes()->append(column.bytes);
}

void AddBoxes(const FieldColumn& column, WorkerFillHeader& header) {
  header.add_counts(static_cast<std::uint32_t>(column.floats.size() / 4));
  header.mutable_floats()->Add(column.floats.begin(), column.floats.end());
}

// Reads the lists of a header's slots one after the other.
class ListReader {
 public:
  ListReader(const InputOptions& options, const WorkerFillHeader& header)
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
    Require(count_ == Size(header_.counts()) &&
            int64_ == Size(header_.int64s()) &&
            float_ == Size(header_.floats()) &&
            byte_count_ == Size(header_.byte_counts()) &&
            byte_ == header_.bytes().size());
  }

 private:
  static constexpr std::size_t kNumber = 8;  // bytes, as FieldReader counts

  template <typename Values>
  static std::size_t Size(const Values& values) {
    return static_cast<std::size_t>(values.size());
  }

  static void Require(bool condition) {
    if (!condition) {
      throw DataError("a worker's reply has lists of another length");
    }
  }

  std::size_t Count() {
    Require(count_ < Size(header_.counts()));
    return header_.counts(static_cast<int>(count_++));
  }

  // Takes `count` of all values of a kind, from `next` on.
  template <typename Values, typename Value>
  void Take(const Values& values, std::size_t count, std::size_t& next,
            std::vector<Value>& taken) {
    Require(count <= Size(values) - next && count <= budget_ / kNumber);
    budget_ -= count * kNumber;
    const Value* const from = values.data() + next;
    taken.assign(from, from + count);
    next += count;
  }

  void TakeBytes(std::size_t count, FieldColumn& column) {
    for (std::size_t i = 0; i < count; ++i) {
      Require(byte_count_ < Size(header_.byte_counts()));
      const std::size_t bytes =
          header_.byte_counts(static_cast<int>(byte_count_++));
      Require(bytes <= header_.bytes().size() - byte_ &&
              bytes + kNumber <= budget_);
      budget_ -= bytes + kNumber;
      column.bytes.append(header_.bytes(), byte_, bytes);
      column.byte_offsets.push_back(std::ssize(column.bytes));
      byte_ += bytes;
    }
  }

  void ReadList(FeatureKind kind, FieldColumn& column) {
    const std::size_t count = Count();
    if (kind == FeatureKind::kInt64) {
      Take(header_.int64s(), count, int64_, column.int64s);
    } else if (kind == FeatureKind::kFloat) {
      Take(header_.floats(), count, float_, column.floats);
    } else {
      TakeBytes(count, column);
    }
    column.offsets.push_back(static_cast<std::int64_t>(count));
  }

  void ReadBoxes(std::vector<float>& boxes) {
    const std::size_t count = Count();
    Require(count == 0 || options_.objects.is_on());
    Take(header_.floats(), 4 * count, float_, boxes);
    if (!std::ranges::all_of(boxes, [](float x) { return std::isfinite(x); })) {
      throw DataError("a worker's reply has a box that is not finite");
    }
  }

  const InputOptions& options_;
  const WorkerFillHeader& header_;
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

std::vector<Geometry> GeometryOfSlot(const WorkerFillHeader& header,
                                     std::size_t slot, std::size_t count) {
  std::vector<Geometry> geometry;
  const std::int32_t* const numbers = header.geometry().data();
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

std::string Serialize(const OpenRequest& request) {
  WorkerOpenRequest message;
  message.set_build(request.build);
  message.set_pixels_version(request.pixels_version);
  message.set_data(request.data);
  for (const StateField& setting : request.settings) {
    WorkerSetting& added = *message.add_settings();
    added.set_name(setting.name);
    added.set_value(setting.value);
  }
  return message.SerializeAsString();
}

std::string Serialize(const OpenReply& reply) {
  WorkerOpenReply message;
  message.set_key(reply.key);
  message.set_credit(static_cast<std::uint32_t>(reply.credit));
  message.set_worker(reply.worker);
  for (const std::string& difference : reply.differences) {
    message.add_differences(difference);
  }
  return message.SerializeAsString();
}

std::string Serialize(const FillRequest& request) {
  WorkerFillRequest message;
  message.set_key(request.key);
  for (const SlotRequest& slot : request.slots) {
    WorkerSlot& added = *message.add_slots();
    added.set_epoch(slot.epoch);
    added.set_position(static_cast<std::uint64_t>(slot.position));
    added.set_record(static_cast<std::uint64_t>(slot.record));
  }
  return message.SerializeAsString();
}

OpenRequest ParseOpenRequest(std::string_view bytes) {
  const auto message = ParseMessage<WorkerOpenRequest>(bytes, "request");
  OpenRequest request = {.build = message.build(),
                         .pixels_version = message.pixels_version(),
                         .data = message.data()};
  for (const WorkerSetting& setting : message.settings()) {
    request.settings.push_back({setting.name(), setting.value()});
  }
  return request;
}

OpenReply ParseOpenReply(RpcPieces pieces) {
  const JoinedPieces joined(pieces);
  if (joined.size() > static_cast<std::size_t>(kMaxRequestBytes)) {
    throw DataError("a worker's reply is too large");
  }
  std::string bytes(joined.size(), '\0');
  joined.Copy(0, std::as_writable_bytes(std::span(bytes)));
  const auto message = ParseMessage<WorkerOpenReply>(bytes, "a worker's reply");
  return {.key = message.key(),
          .credit = NumberFrom<int>(message.credit(), "credit"),
          .worker = message.worker(),
          .differences = {message.differences().begin(),
                          message.differences().end()}};
}

FillRequest ParseFillRequest(std::string_view bytes) {
  const auto message = ParseMessage<WorkerFillRequest>(bytes, "request");
  FillRequest request = {.key = message.key()};
  for (const WorkerSlot& slot : message.slots()) {
    request.slots.push_back(
        {.epoch = slot.epoch(),
         .position = NumberFrom<std::int64_t>(slot.position(), "position"),
         .record = NumberFrom<std::int64_t>(slot.record(), "record")});
  }
  if (request.slots.empty() || request.slots.size() > kMostSlots) {
    throw DataError("request: " + std::to_string(request.slots.size()) +
                    " slots: 1 to 64 are possible");
  }
  return request;
}

std::string Serialize(const FillHeader& header,
                      const std::vector<FieldSpec>& specs) {
  WorkerFillHeader message;
  message.set_slots(static_cast<std::uint32_t>(header.labels.size()));
  message.set_declined(header.declined);
  message.set_credit(static_cast<std::uint32_t>(header.note.credit));
  message.set_cpu_nanoseconds(
      static_cast<std::uint64_t>(header.note.cpu_nanoseconds));
  message.mutable_labels()->Add(header.labels.begin(), header.labels.end());
  message.mutable_sums()->Add(header.sums.begin(), header.sums.end());
  for (const std::vector<Geometry>& of_slot : header.geometry) {
    for (const Geometry& geometry : of_slot) {
      const auto numbers = NumbersOf(geometry);
      message.mutable_geometry()->Add(numbers.begin(), numbers.end());
    }
  }
  for (const std::vector<FieldColumn>& lists : header.lists) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      AddList(specs[i], lists[i], message);
    }
    AddBoxes(lists[specs.size()], message);
  }
  return message.SerializeAsString();
}

FillHeader ParseFillHeader(const std::string& bytes,
                           const InputOptions& options, std::size_t slots) {
  const auto message =
      ParseMessage<WorkerFillHeader>(bytes, "a worker's reply");
  const std::size_t geometries = GeometriesOf(options);
  RequireSize(message.slots(), slots, "slots");
  RequireSize(static_cast<std::size_t>(message.labels_size()), slots, "labels");
  RequireSize(static_cast<std::size_t>(message.sums_size()), slots, "sums");
  RequireSize(static_cast<std::size_t>(message.geometry_size()),
              slots * geometries * kGeometryNumbers, "numbers of geometry");
  FillHeader header = {
      .note = {.credit = NumberFrom<int>(message.credit(), "credit"),
               .cpu_nanoseconds = NumberFrom<std::int64_t>(
                   message.cpu_nanoseconds(), "the CPU's time")},
      .declined = message.declined(),
      .labels = {message.labels().begin(), message.labels().end()},
      .sums = {message.sums().begin(), message.sums().end()}};
  if (slots < kMostSlots && header.declined >> slots != 0) {
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
                          static_cast<std::size_t>(RaggedBytes(options)));
}

}  // namespace infeed
