#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/number_bytes.h"
#include "base/shown_text.h"
#include "pipeline/memory/batch.h"
#include "pipeline/remote/fill_header.h"
#include "pipeline/remote/joined_pieces.h"
#include "pipeline/remote/messages.h"
#include "pipeline/remote/slot_parts.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/pixels/packed_copy.h"
#include "records/bytes/crc32c.h"
#include "records/bytes/little_endian.h"

// The reply to a request for slots: worker.proto's WorkerFillReply, written and
// read by hand, so that the slots' bytes are copied once, into their batch.
namespace infeed {
namespace {

constexpr std::size_t kRgb = 3;  // bytes of a pixel
constexpr std::size_t kSumBytes = 4;
// Protobuf's tags of the reply's fields.
constexpr char kHeaderTag = 0x0A;
constexpr char kSumTag = 0x15;
constexpr char kBodyTag = 0x1A;
constexpr std::size_t kMostFrameBytes = 32;  // of tags, lengths and the sum

BatchSpec SpecOf(const Batch& batch) {
  return {.size = batch.size(),
          .image_size = batch.image_size(),
          .content = batch.content(),
          .fields = batch.field_specs(),
          .views = batch.view_shapes()};
}

std::span<const std::byte> SlotBytesOf(const BodyPart& part, std::size_t slot,
                                       const Batch& batch) {
  return BytesOf(part, batch).subspan(slot * part.slot_bytes, part.slot_bytes);
}

// Writes bytes that come in pieces into their place.
class ByteCopier {
 public:
  explicit ByteCopier(std::span<std::byte> to) : to_(to) {}

  void Add(std::span<const std::byte> bytes) {
    CopyPixelBytes(bytes, to_.first(bytes.size()));
    to_ = to_.subspan(bytes.size());
  }

 private:
  std::span<std::byte> to_;
};

// Packs RGB bytes that come in pieces, whose ends may be within a pixel.
class PiecePacker {
 public:
  // Requires: the bytes are words.
  explicit PiecePacker(std::span<std::byte> to)
      : to_(reinterpret_cast<std::uint32_t*>(to.data()),
            to.size() / sizeof(std::uint32_t)) {}

  void Add(std::span<const std::byte> bytes) {
    while (begun_ > 0 && !bytes.empty()) {
      AddByte(bytes.front());
      bytes = bytes.subspan(1);
    }
    const std::size_t pixels = bytes.size() / kRgb;
    const RgbView view = {
        .pixels = reinterpret_cast<const std::uint8_t*>(bytes.data()),
        .width = static_cast<int>(pixels),
        .height = 1};
    PackImage(view, false, to_.first(pixels));
    to_ = to_.subspan(pixels);
    for (const std::byte byte : bytes.subspan(pixels * kRgb)) {
      AddByte(byte);
    }
  }

 private:
  void AddByte(std::byte byte) {
    pixel_[begun_++] = std::to_integer<std::uint32_t>(byte);
    if (begun_ == kRgb) {
      to_.front() = PackPixel(pixel_[0], pixel_[1], pixel_[2]);
      to_ = to_.subspan(1);
      begun_ = 0;
    }
  }

  std::span<std::uint32_t> to_;
  std::array<std::uint32_t, kRgb> pixel_ = {};
  std::size_t begun_ = 0;  // bytes of it that have come
};

FillHeader HeaderOf(const FilledRange& range, const FillNote& note,
                    const std::vector<BodyPart>& parts) {
  const Batch& batch = range.batch();
  const std::size_t views = batch.content() == BatchContent::kNone
                                ? 0
                                : 1 + batch.view_shapes().size();
  FillHeader header = {.note = note, .declined = range.declined()};
  for (int i = 0; i < range.size(); ++i) {
    const auto slot = static_cast<std::size_t>(i);
    if (header.is_declined(slot)) {
      header.labels.push_back(-1);
      header.sums.push_back(0);
      header.fingerprints.push_back(0);
      header.geometry.emplace_back(views);
      header.lists.emplace_back(batch.field_specs().size() + 1);
      continue;
    }
    header.labels.push_back(batch.labels()[slot]);
    std::uint32_t sum = 0;
    for (const BodyPart& part : parts) {
      sum = ExtendCrc32c(sum, SlotBytesOf(part, slot, batch));
    }
    header.sums.push_back(sum);
    header.fingerprints.push_back(batch.fingerprints()[slot]);
    std::vector<Geometry>& geometry = header.geometry.emplace_back();
    for (std::size_t view = 0; view < views; ++view) {
      geometry.push_back(batch.geometry(view)[slot]);
    }
    header.lists.push_back(ListsOf(batch, i));
  }
  return header;
}

// Reads a reply up to its body.
class FrameReader {
 public:
  explicit FrameReader(const JoinedPieces& pieces) : pieces_(pieces) {}

  [[nodiscard]] std::size_t left() const { return pieces_.size() - at_; }

  void SkipTag(char tag) {
    if (Bytes(1)[0] != tag) {
      Refuse("has other fields");
    }
  }

  std::size_t Length() {
    std::uint64_t length = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(Bytes(1)[0]);
      length |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return length;
      }
    }
    Refuse("has a length that is none");
  }

  std::string Bytes(std::size_t count) {
    if (count > left()) {
      Refuse("ends too early");
    }
    std::string bytes(count, '\0');
    pieces_.Copy(at_, std::as_writable_bytes(std::span(bytes)));
    at_ += count;
    return bytes;
  }

  [[noreturn]] static void Refuse(const std::string& what) {
    throw DataError("a worker's reply " + what);
  }

 private:
  const JoinedPieces& pieces_;
  std::size_t at_ = 0;
};

// Reads the header of a reply with so many bytes after it.
FillHeader ReadHeader(const JoinedPieces& pieces, const InputOptions& options,
                      std::size_t slots, std::size_t body_bytes) {
  FrameReader reader(pieces);
  reader.SkipTag(kHeaderTag);
  const std::size_t length = reader.Length();
  if (length > MostHeaderBytes(options, slots)) {
    FrameReader::Refuse("has a header of " + std::to_string(length) + " bytes");
  }
  const std::string header = reader.Bytes(length);
  reader.SkipTag(kSumTag);
  const std::string sum = reader.Bytes(kSumBytes);
  if (LittleEndianAt(std::as_bytes(std::span(sum)), 0, kSumBytes) !=
      Crc32c(std::as_bytes(std::span(header)))) {
    FrameReader::Refuse("has a header with another checksum");
  }
  reader.SkipTag(kBodyTag);
  if (reader.Length() != body_bytes || reader.left() != body_bytes) {
    FrameReader::Refuse("has " + std::to_string(reader.left()) +
                        " bytes of slots, not " + std::to_string(body_bytes));
  }
  return ParseFillHeader(header, options, slots);
}

// Also tells numbers that are none, and zeros.
bool HaveSameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)),
                            std::as_bytes(std::span(b)));
}

bool AreSame(const FieldColumn& a, const FieldColumn& b) {
  return a.offsets == b.offsets && a.int64s == b.int64s &&
         HaveSameBits(a.floats, b.floats) && a.byte_offsets == b.byte_offsets &&
         a.bytes == b.bytes;
}

std::string FieldText(const FieldSpec& field) {
  return "field '" + ShownText(field.key) + "' differs";
}

std::string PartText(const BodyPart& part,
                     const std::vector<FieldSpec>& fields) {
  switch (part.of) {
    case BodyPart::Of::kImage:
      return "the pixels differ";
    case BodyPart::Of::kView:
      return "view " + std::to_string(part.number + 1) + " differs";
    case BodyPart::Of::kRow:
    case BodyPart::Of::kLength:
      break;
  }
  return FieldText(fields[part.number]);
}

}  // namespace

std::vector<RpcPiece> FillReplyOf(std::shared_ptr<const FilledRange> range,
                                  const FillNote& note) {
  const Batch& batch = range->batch();
  const auto slots = static_cast<std::size_t>(range->size());
  const std::vector<BodyPart> parts = PartsOf(SpecOf(batch), slots);
  const std::string header =
      Serialize(HeaderOf(*range, note, parts), batch.field_specs());
  auto frame = std::make_shared<std::string>(1, kHeaderTag);
  AppendVarint(header.size(), *frame);
  frame->append(header).append(1, kSumTag);
  AppendLittleEndian(*frame, Crc32c(std::as_bytes(std::span(header))),
                     kSumBytes);
  frame->append(1, kBodyTag);
  AppendVarint(BodyBytes(parts, slots), *frame);
  std::vector<RpcPiece> pieces = {
      {.bytes = std::as_bytes(std::span(std::as_const(*frame))),
       .owner = frame}};
  for (const BodyPart& part : parts) {
    pieces.push_back(
        {.bytes = BytesOf(part, batch).first(slots * part.slot_bytes),
         .owner = range});
  }
  return pieces;
}

std::int64_t MostReplyBytes(const InputOptions& options, int slots) {
  const auto count = static_cast<std::size_t>(slots);
  return static_cast<std::int64_t>(
      kMostFrameBytes + MostHeaderBytes(options, count) +
      BodyBytes(PartsOf(BatchSpecOf(options), count), count));
}

struct FilledSlots::Parts {
  Parts(const InputOptions& options, std::size_t slots, RpcPieces arrived,
        bool verify_sums)
      : fields(options.fields),
        verify(verify_sums),
        pieces(arrived),
        parts(PartsOf(BatchSpecOf(options), slots)),
        header(ReadHeader(pieces, options, slots, BodyBytes(parts, slots))),
        body_at(pieces.size() - BodyBytes(parts, slots)) {
    for (const BodyPart& part : parts) {
      if (part.of == BodyPart::Of::kLength) {
        CheckLengths(part, slots);
      }
    }
  }

  // Throws if a slot's length is none of its field.
  void CheckLengths(const BodyPart& part, std::size_t slots) const {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      std::int64_t length = 0;
      pieces.Copy(body_at + part.BeginOf(slot),
                  std::as_writable_bytes(std::span(&length, 1)));
      if (!header.is_declined(slot) &&
          (length < 0 || length > fields[part.number].items())) {
        FrameReader::Refuse("has a length of field '" +
                            ShownText(fields[part.number].key) +
                            "' that is none");
      }
    }
  }

  // Adds the bytes of a part of a slot to a copier; returns the sum of what
  // `sum` is of and of them.
  template <typename Copier>
  std::uint32_t Copy(const BodyPart& part, std::size_t slot, std::uint32_t sum,
                     Copier copier) const {
    pieces.ForEach(body_at + part.BeginOf(slot), part.slot_bytes,
                   [&](std::span<const std::byte> bytes) {
                     if (verify) {
                       sum = ExtendCrc32c(sum, bytes);
                     }
                     copier.Add(bytes);
                   });
    return sum;
  }

  // Whether a part of a slot has these bytes.
  [[nodiscard]] bool Has(const BodyPart& part, std::size_t slot,
                         std::span<const std::byte> here) const {
    bool same = true;
    pieces.ForEach(body_at + part.BeginOf(slot), part.slot_bytes,
                   [&](std::span<const std::byte> bytes) {
                     same = same && std::memcmp(here.data(), bytes.data(),
                                                bytes.size()) == 0;
                     here = here.subspan(bytes.size());
                   });
    return same;
  }

  const std::vector<FieldSpec> fields;
  const bool verify;
  const JoinedPieces pieces;
  const std::vector<BodyPart> parts;
  const FillHeader header;
  const std::size_t body_at;
  int wrong_sums = 0;
};

FilledSlots::FilledSlots(const InputOptions& options, int slots,
                         RpcPieces pieces, bool verify)
    : parts_(std::make_unique<Parts>(options, static_cast<std::size_t>(slots),
                                     pieces, verify)) {}

FilledSlots::~FilledSlots() = default;

const FillNote& FilledSlots::note() const { return parts_->header.note; }

std::uint64_t FilledSlots::declined() const { return parts_->header.declined; }

int FilledSlots::wrong_sums() const { return parts_->wrong_sums; }

bool FilledSlots::Write(OpenBatch& open, int slot, std::size_t index) {
  const FillHeader& header = parts_->header;
  if (header.is_declined(index)) {
    return false;
  }
  Batch& batch = open.batch();
  std::uint32_t sum = 0;
  for (const BodyPart& part : parts_->parts) {
    const std::span<std::byte> place = PlaceOf(part, slot, batch);
    const bool packs = part.is_rgb && batch.content() == BatchContent::kPixels;
    sum = packs ? parts_->Copy(part, index, sum, PiecePacker(place))
                : parts_->Copy(part, index, sum, ByteCopier(place));
  }
  if (parts_->verify && sum != header.sums[index]) {
    ++parts_->wrong_sums;
    return false;
  }
  const auto at = static_cast<std::size_t>(slot);
  batch.labels()[at] = header.labels[index];
  batch.weights()[at] = 1;
  batch.fingerprints()[at] = header.fingerprints[index];
  for (std::size_t view = 0; view < header.geometry[index].size(); ++view) {
    batch.geometry(view)[at] = header.geometry[index][view];
  }
  std::vector<FieldColumn> lists = header.lists[index];
  open.SetFields(slot, lists);
  return true;
}

std::string FilledSlots::Difference(std::size_t index,
                                    const FilledRange& here) const {
  const FillHeader& header = parts_->header;
  const Batch& batch = here.batch();
  if (header.labels[index] != batch.labels()[index]) {
    return "the label is " + std::to_string(header.labels[index]) + ", here " +
           std::to_string(batch.labels()[index]);
  }
  for (const BodyPart& part : parts_->parts) {
    if (!parts_->Has(part, index, SlotBytesOf(part, index, batch))) {
      return PartText(part, parts_->fields);
    }
  }
  const std::vector<FieldColumn> lists =
      ListsOf(batch, static_cast<int>(index));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!AreSame(header.lists[index][i], lists[i])) {
      return i < parts_->fields.size() ? FieldText(parts_->fields[i])
                                       : "the boxes differ";
    }
  }
  for (std::size_t view = 0; view < header.geometry[index].size(); ++view) {
    if (header.geometry[index][view] != batch.geometry(view)[index]) {
      return "the geometry " +
             (view == 0 ? "" : "of view " + std::to_string(view) + " ") +
             "differs";
    }
  }
  return header.fingerprints[index] == batch.fingerprints()[index]
             ? ""
             : "the fingerprint differs: its copy of the data is another one";
}

}  // namespace infeed
