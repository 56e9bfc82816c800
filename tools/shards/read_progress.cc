#include "tools/shards/read_progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "records/bytes/byte_size.h"

namespace infeed {

std::string ReadProgressText(const ReadProgressState& state) {
  const auto bytes = static_cast<double>(state.bytes);
  const auto total = static_cast<double>(state.total_bytes);
  std::string text =
      fmt::format("{} of {}  {:.0f} %", FileSizeText(state.bytes),
                  FileSizeText(state.total_bytes),
                  std::floor(total > 0 ? bytes / total * 100 : 100));
  if (state.seconds > 0 && bytes > 0) {
    const double rate = bytes / state.seconds;
    text += fmt::format("  {}/s  {} records  ETA {}",
                        FileSizeText(std::llround(rate)), state.records,
                        ShortDuration(std::max(0.0, (total - bytes) / rate)));
  }
  return text;
}

ReadProgress::ReadProgress(std::int64_t total_bytes)
    : state_{.total_bytes = total_bytes} {
  line_.Delay();
}

ReadProgress::~ReadProgress() { line_.Erase(); }

void ReadProgress::Add(std::int64_t bytes, std::int64_t records) {
  const std::lock_guard lock(mutex_);
  state_.bytes += bytes;
  state_.records += records;
  if (line_.IsDue()) {
    state_.seconds = line_.seconds();
    line_.Update(ReadProgressText(state_));
  }
}

}  // namespace infeed
