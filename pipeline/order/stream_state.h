#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/options/options.h"
#include "records/store/record_index.h"

// The saved state of a stream, from which it can be resumed: its position, a
// few integers, the fingerprint of what it has fed, and its identity, so that
// no other stream is resumed from it. docs/order.md has the format.
namespace infeed {

// One property that two streams must share to be the same: the option's name
// and its value as JSON.
struct StateField {
  std::string name;
  std::string value;

  friend bool operator==(const StateField&, const StateField&) = default;
};

struct StreamState {
  StreamPosition position = {};
  // Batch::fed. With several ranks each one's state has the sum of its own
  // slots.
  std::uint64_t fingerprint = 0;
  // The seed, the data, and every option that changes batches. Not the options
  // for ranks, threads, memory and length, nor the bad-record policy: a user
  // who meets a bad record may resume with another policy, which changes no
  // other sample.
  std::vector<StateField> identity = {};

  friend bool operator==(const StreamState&, const StreamState&) = default;
};

// The identity of the stream of these data and options. Throws as
// CheckedInputOptions() does.
[[nodiscard]] std::vector<StateField> StreamIdentity(
    const RecordIndex& index, const InputOptions& options);

// The state of that stream.
[[nodiscard]] StreamState StateOf(const RecordIndex& index,
                                  const InputOptions& options,
                                  const StreamPosition& position,
                                  std::uint64_t fingerprint = 0);

// One JSON object with a line for each field.
[[nodiscard]] std::string BuildStreamState(const StreamState& state);

// Parses that text. Throws DataError with the place where it is not JSON, or
// naming a field that is missing or has another type; UsageError when a later
// version wrote it.
[[nodiscard]] StreamState ParseStreamState(std::string_view text);

// Throws UsageError naming each field, with both values, in which the state's
// stream differs from the stream of these data and options.
void CheckResumable(const StreamState& state, const RecordIndex& index,
                    const InputOptions& options);

// The state in a text, with whose position and fingerprint an InputPipeline of
// these data and options resumes the stream. Throws what ParseStreamState() and
// CheckResumable() throw.
[[nodiscard]] StreamState ResumeState(std::string_view text,
                                      const RecordIndex& index,
                                      const InputOptions& options);

// Its position alone.
[[nodiscard]] StreamPosition ResumePosition(std::string_view text,
                                            const RecordIndex& index,
                                            const InputOptions& options);

}  // namespace infeed
