#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"
#include "records/store/record_index.h"

// What a stream leaves to be gone on with: where it is, a few integers, and
// what it is, so that no other stream is taken for it. docs/bad_records.md has
// the format.
namespace infeed {

// Something that two streams must share to be the same, under the name of its
// option, and its value as JSON has it.
struct StateField {
  std::string name;
  std::string value;

  friend bool operator==(const StateField&, const StateField&) = default;
};

struct StreamState {
  StreamPosition position = {};
  // The seed, the data, and every option that decides about batches; not those
  // of ranks, threads, memory and length, and not what becomes of bad records:
  // whoever meets one goes on with another policy, which moves nothing.
  std::vector<StateField> identity = {};

  friend bool operator==(const StreamState&, const StreamState&) = default;
};

// The state of a stream of these data and options. Throws as
// CheckedInputOptions() does.
[[nodiscard]] StreamState StateOf(const RecordIndex& index,
                                  const InputOptions& options,
                                  const StreamPosition& position);

// One JSON object with a line for each field.
[[nodiscard]] std::string BuildStreamState(const StreamState& state);

// Reads it back. Throws DataError with the place where it is no JSON, and
// naming the field that is missing or of another type; UsageError when a later
// version wrote it.
[[nodiscard]] StreamState ParseStreamState(std::string_view text);

// Throws UsageError naming each field in which the state's stream differs from
// one of these data and options, with both values.
void CheckResumable(const StreamState& state, const RecordIndex& index,
                    const InputOptions& options);

// Where an InputPipeline of these data and options must start to go on with
// the stream of a state's text. Throws as the two before it.
[[nodiscard]] StreamPosition ResumePosition(std::string_view text,
                                            const RecordIndex& index,
                                            const InputOptions& options);

}  // namespace infeed
