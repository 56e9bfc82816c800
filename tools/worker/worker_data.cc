#include "tools/worker/worker_data.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/print_lines.h"
#include "records/files/split_names.h"
#include "records/store/index_data.h"

namespace infeed {
namespace {

ServedData Served(std::string_view split, RecordIndex index) {
  return {std::string(split),
          std::make_shared<const RecordIndex>(std::move(index))};
}

}  // namespace

std::vector<ServedData> OpenServedData(const WorkerFlags& flags) {
  const DataOptions options{
      .on_faults = FaultsPolicy(flags.allow_missing_shards, PrintLine)};
  std::vector<ServedData> data;
  if (!flags.shards.empty()) {
    data.push_back(Served("", IndexData(flags.shards, options)));
    return data;
  }
  for (const std::string& split : flags.splits) {
    data.push_back(
        Served(split, IndexSplitThatIsThere(flags.data_dir, split, options)));
  }
  if (!data.empty()) {
    return data;
  }
  for (const std::string_view split : kSplits) {
    std::optional<RecordIndex> index =
        IndexSplit(flags.data_dir, split, options);
    if (index) {
      data.push_back(Served(split, *std::move(index)));
    }
  }
  if (data.empty()) {  // The error names what was looked for.
    data.push_back(Served(
        "train", IndexSplitThatIsThere(flags.data_dir, "train", options)));
  }
  return data;
}

std::string ServedText(std::span<const ServedData> data) {
  std::string text;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i > 0) {
      text += i + 1 == data.size() ? " and " : ", ";
    }
    const std::string records = CountText(data[i].index->size(), "record");
    text +=
        data[i].split.empty() ? records : data[i].split + " (" + records + ")";
  }
  return text;
}

}  // namespace infeed
