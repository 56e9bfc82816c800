#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/options/options.h"
#include "pipeline/order/stream_state.h"
#include "pipeline/remote/rpc.h"
#include "pipeline/slots/open_batch.h"
#include "pipeline/slots/range_filler.h"
#include "pipeline/slots/range_lender.h"
#include "records/store/record_index.h"

// The messages between a trainer and its workers, which
// tests/support/worker.proto describes; tests compare them with protobuf's own.
// What is parsed is not trusted: sizes are checked before memory is taken.
namespace infeed {

inline constexpr std::string_view kOpenMethod = "/infeed.InputWorker/Open";
inline constexpr std::string_view kFillMethod = "/infeed.InputWorker/Fill";
inline constexpr std::int64_t kMaxRequestBytes = 64 << 10;

// Asks a worker to fill slots of a stream.
struct OpenRequest {
  std::string build = {};  // of the program, for messages
  std::uint32_t pixels_version = 0;
  std::string data = {};  // RecordIndex::identity_with_labels()
  std::vector<StateField> settings = {};

  friend bool operator==(const OpenRequest&, const OpenRequest&) = default;
};

// The request for a stream of the data. Requires: options are checked and
// resolved, with the limits of their memory plan.
[[nodiscard]] OpenRequest OpenRequestOf(const RecordIndex& data,
                                        const InputOptions& options);

struct OpenReply {
  std::uint64_t key = 0;  // for FillRequest, if nothing differs
  int credit = 0;         // ranges that the worker would take from this stream
  std::string worker = {};  // its name
  // What keeps the worker from this stream, in words; empty: nothing.
  std::vector<std::string> differences = {};

  friend bool operator==(const OpenReply&, const OpenReply&) = default;
};

struct FillRequest {
  std::uint64_t key = 0;
  std::vector<SlotRequest> slots = {};  // 1 to 64

  friend bool operator==(const FillRequest&, const FillRequest&) = default;
};

// What a reply says beside the slots.
struct FillNote {
  int credit = 0;
  std::int64_t cpu_nanoseconds = 0;  // that the range took
  int cut_lists = 0;                 // FilledRange::cut_lists()
};

[[nodiscard]] std::string Serialize(const OpenRequest& request);
[[nodiscard]] std::string Serialize(const OpenReply& reply);
[[nodiscard]] std::string Serialize(const FillRequest& request);

// Throw DataError for what is no such message.
[[nodiscard]] OpenRequest ParseOpenRequest(std::string_view bytes);
[[nodiscard]] OpenReply ParseOpenReply(RpcPieces pieces);
[[nodiscard]] FillRequest ParseFillRequest(std::string_view bytes);

// The reply with a range's slots: a header, and the range's memory, which is
// not copied. Requires: nobody changes the range until the pieces are gone.
[[nodiscard]] std::vector<RpcPiece> FillReplyOf(
    std::shared_ptr<const FilledRange> range, const FillNote& note);

// The largest reply for so many slots.
[[nodiscard]] std::int64_t MostReplyBytes(const InputOptions& options,
                                          int slots);

// A reply with slots as it arrived. Keeps views of the pieces.
class FilledSlots {
 public:
  // options: of the stream, with its own layout. verify: checks the sum of
  // each slot that is written. Throws DataError if the pieces are not a reply
  // for so many slots of the stream. Requires: options are checked.
  FilledSlots(const InputOptions& options, int slots, RpcPieces pieces,
              bool verify);
  ~FilledSlots();
  FilledSlots(const FilledSlots&) = delete;
  FilledSlots& operator=(const FilledSlots&) = delete;

  [[nodiscard]] const FillNote& note() const;
  [[nodiscard]] std::uint64_t declined() const;

  // RangeLender::WriteSlot for these slots: everything of the slot but its
  // record and position. Returns false if the slot is declined, or its bytes
  // do not have their sum, and counts the latter in wrong_sums().
  bool Write(OpenBatch& batch, int slot, std::size_t index);
  [[nodiscard]] int wrong_sums() const;

  // In words, how a slot differs from a slot of a range that was filled here;
  // empty: not at all. Requires: neither is declined.
  [[nodiscard]] std::string Difference(std::size_t index,
                                       const FilledRange& here) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace infeed
