#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/order/stream_state.h"

// The options on which the content of a slot depends, as text that travels to
// workers.
namespace infeed {

// Changes with any change of the bits of a slot for the same settings, data and
// request.
inline constexpr std::uint32_t kPixelsVersion = 1;

// What a slot's content depends on beside data and request, name by name: rows
// of the input's table, fields, objects, views, limits; not what places samples
// (batch_size, shuffle, ranks, selection), nor the policy for bad records. A
// value is JSON. Options of equal slots have equal settings. Requires: options
// are checked and resolved (label_class.h).
[[nodiscard]] std::vector<StateField> SlotSettings(const InputOptions& options);

// The options with these settings, and layout kRgb, or kNone without images;
// checked: SlotSettings() returns the settings again. Throws DataError for what
// is no such list: names that are missing, unknown or given twice, values of
// another type or range.
[[nodiscard]] InputOptions OptionsOfSettings(
    std::span<const StateField> settings);

// What identifies the slots of a stream: a hash of the settings, the data's
// identity and kPixelsVersion.
[[nodiscard]] std::uint64_t SlotsKey(std::span<const StateField> settings,
                                     const std::string& data);

}  // namespace infeed
