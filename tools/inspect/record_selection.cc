#include "tools/inspect/record_selection.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "records/bytes/whole_number.h"
#include "records/files/open_source.h"
#include "records/store/record_cursor.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"

namespace infeed {
namespace {

// Parses and removes the number at the front of a text.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  const auto number = TakeWholeNumber<std::int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// Goes through one shard after the other and counts the records.
class Walk {
 public:
  using OnRecord = std::function<void(const std::string&, const Record&)>;
  using OnBad = std::function<void(const DataError&)>;

  Walk(const RecordSelection& selection, std::int64_t limit,
       const OnRecord& on_record, const OnBad& on_bad)
      : selection_(selection),
        left_(limit),
        on_record_(on_record),
        on_bad_(on_bad) {}

  [[nodiscard]] bool done() const {
    return left_ == 0 || selection_.IsNoneFrom(number_);
  }

  // Throws unless the selection is of records that there are. Requires: all
  // shards were read, or done().
  void CheckEnd() const {
    const auto beyond =
        left_ == 0 ? std::nullopt : selection_.FindBeyond(number_);
    if (!beyond) {
      return;
    }
    throw UsageError("no record " + std::to_string(*beyond) + ": there " +
                     (number_ == 0 ? "are none"
                      : number_ == 1
                          ? "is only record 0"
                          : "are 0 to " + std::to_string(number_ - 1)));
  }

  void Shard(const std::string& path) {
    RecordCursor reader(OpenSource(path), {.resynchronise = true});
    if (!selection_.IsAllFrom(number_) &&
        reader.compression() == Compression::kNone && Indexed(path)) {
      return;
    }
    while (!done() && Next(path, reader)) {
    }
  }

 private:
  // False when the shard has no usable index because it is damaged.
  bool Indexed(const std::string& path) {
    std::unique_ptr<RecordIndex> index;
    try {
      index = std::make_unique<RecordIndex>(std::vector<std::string>{path});
    } catch (const DataError&) {
      return false;  // Sequential reading finds the damage.
    }
    const RecordStore store(
        *index, {.image_key = TarImageKey(*index, std::string(kImageKey))});
    std::vector<std::byte> buffer;
    for (std::int64_t i = 0; i < index->size() && !done(); ++i, ++number_) {
      if (!selection_.Contains(number_)) {
        continue;
      }
      left_ -= left_ > 0 ? 1 : 0;
      try {
        on_record_(path, {.payload = store.Read(i, buffer),
                          .number = i,
                          .offset = index->at(i).offset});
      } catch (const DataError& error) {
        Report(error, store.OriginOf(i));
      }
    }
    return true;
  }

  // False at the end of the shard.
  bool Next(const std::string& path, RecordCursor& reader) {
    const bool wanted = selection_.Contains(number_);
    std::optional<Record> record;
    try {
      record = reader.Next();
      if (!record) {
        return false;
      }
      if (wanted) {
        on_record_(path, *record);
      }
    } catch (const DataError& error) {
      if (wanted) {
        Report(error, record ? DataError::Origin{PathForMessages(path),
                                                 record->number, record->offset}
                             : error.origin());
      }
    }
    ++number_;
    left_ -= wanted && left_ > 0 ? 1 : 0;
    return true;
  }

  void Report(const DataError& error, DataError::Origin origin) const {
    on_bad_(error.At(std::move(origin)));
  }

  const RecordSelection& selection_;
  std::int64_t number_ = 0;  // of the next record, over all shards
  std::int64_t left_;
  const OnRecord& on_record_;
  const OnBad& on_bad_;
};

}  // namespace

RecordSelection::RecordSelection(std::int64_t offset) {
  ranges_.push_back({.first = offset});
}

RecordSelection::RecordSelection(std::string_view text) {
  const std::string whole(text);
  for (bool more = true; more;) {
    const std::optional<std::int64_t> first = TakeNumber(text);
    std::optional<std::int64_t> last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = TakeNumber(text);
    }
    more = text.starts_with(',');
    text.remove_prefix(more ? 1 : 0);
    if (!first || !last || *last < *first || (!more && !text.empty())) {
      throw UsageError("'" + whole +
                       "' is not a list of records: give numbers and ranges, "
                       "such as 3,10-12");
    }
    ranges_.push_back({.first = *first, .last = *last});
  }
}

bool RecordSelection::Contains(std::int64_t number) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.first <= number && number <= range.last;
  });
}

bool RecordSelection::IsAllFrom(std::int64_t number) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.first <= number && range.last == Range().last;
  });
}

bool RecordSelection::IsNoneFrom(std::int64_t number) const {
  return std::all_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& range) { return range.last < number; });
}

std::optional<std::int64_t> RecordSelection::FindBeyond(
    std::int64_t records) const {
  const auto found = std::ranges::find_if(ranges_, [&](const Range& range) {
    return range.first >= records && range.last != Range().last;
  });
  return found == ranges_.end() ? std::nullopt : std::optional(found->first);
}

void ForEachSelected(
    const std::vector<std::string>& paths, const RecordSelection& selection,
    std::int64_t limit,
    const std::function<void(const std::string& path, const Record& record)>&
        on_record,
    const std::function<void(const DataError& error)>& on_bad) {
  Walk walk(selection, limit, on_record, on_bad);
  for (const std::string& path : paths) {
    if (walk.done()) {
      break;
    }
    walk.Shard(path);
  }
  walk.CheckEnd();
}

}  // namespace infeed
