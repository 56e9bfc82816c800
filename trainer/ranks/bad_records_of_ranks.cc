#include "trainer/ranks/bad_records_of_ranks.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "trainer/ranks/frames.h"

namespace infeed {

void BadRecordsOfRanks::Note(const BadRecord& bad) {
  if (bad.kind == BadRecordKind::kWarning) {
    return;
  }
  const std::lock_guard lock(mutex_);
  noted_.push_back({.epoch = bad.epoch,
                    .position = bad.position,
                    .draw = bad.draw,
                    .record = bad.record,
                    .message = bad.error.what()});
}

void BadRecordsOfRanks::Meet(const StreamPosition& reached, Ranks& ranks) {
  const std::string error = ranks.Reduce(
      TakeBefore(reached), [this](const std::vector<std::string>& messages) {
        return Enter(messages);
      });
  if (!error.empty()) {
    throw DataError(error);
  }
}

std::string BadRecordsOfRanks::TakeBefore(const StreamPosition& reached) {
  const std::lock_guard lock(mutex_);
  const auto rest = std::stable_partition(
      noted_.begin(), noted_.end(), [&reached](const Met& met) {
        return std::tie(met.epoch, met.position) <
               std::tie(reached.epoch, reached.position);
      });
  std::vector<std::string> texts;
  for (const Met& met : std::span(noted_.begin(), rest)) {
    texts.push_back(fmt::format("{} {} {} {} {}", met.epoch, met.position,
                                met.draw, met.record, met.message));
  }
  noted_.erase(noted_.begin(), rest);
  return PackTexts(texts);
}

BadRecordsOfRanks::Met BadRecordsOfRanks::Parse(const std::string& text) {
  std::istringstream words(text);
  Met met;
  words >> met.epoch >> met.position >> met.draw >> met.record;
  words.ignore();  // the space
  met.message.assign(std::istreambuf_iterator<char>(words), {});
  return met;
}

std::string BadRecordsOfRanks::Enter(const std::vector<std::string>& messages) {
  std::vector<Met> all;
  for (const std::string& message : messages) {
    for (const std::string& text : UnpackTexts(message)) {
      all.push_back(Parse(text));
    }
  }
  std::ranges::sort(all, {}, [](const Met& met) {
    return std::tie(met.epoch, met.position, met.draw);
  });
  for (const Met& met : all) {
    bad_.insert(met.record);
    if (std::ssize(bad_) > most_) {
      return fmt::format(
          "{}; it is bad record number {} of all ranks, and max_bad_records is "
          "{}: repair the shards (records repair), or raise it",
          met.message, bad_.size(), most_);
    }
  }
  return "";
}

}  // namespace infeed
