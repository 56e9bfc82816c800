#include "records/store/index_classes.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "base/error.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

// A data set whose classes have one numbering.
struct ClassSource {
  IndexClasses classes;
  std::string name;  // for messages
};

struct IndexedShard {
  const RecordIndex* index;
  std::size_t number;
};

// The first shard of each data set. The archives of one index have one
// numbering.
std::vector<IndexedShard> FirstShards(
    std::span<const RecordIndex* const> indexes) {
  std::vector<IndexedShard> firsts;
  for (const RecordIndex* index : indexes) {
    if (index->is_of_images()) {
      firsts.push_back({index, 0});
      continue;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < index->shards().size(); ++i) {
      const bool is_tree = IsArchiveTree(index->format(i));
      if (seen.insert(is_tree ? "" : DatasetFolders(index->shards()[i]).front())
              .second) {
        firsts.push_back({index, i});
      }
    }
  }
  return firsts;
}

ClassSource SourceBeside(const std::string& shard) {
  return {.classes = ClassesBeside(shard),
          .name = DatasetFolders(shard).front()};
}

ClassSource SourceAt(const RecordIndex& index, std::size_t shard) {
  const std::string& path = index.shards()[shard];
  if (!index.is_of_images() && !IsArchiveTree(index.format(shard))) {
    return SourceBeside(path);
  }
  return {.classes = {.names = index.class_names(), .first = 1},
          .name = index.kept_root().empty() ? PathForMessages(path)
                                            : index.kept_root()};
}

// The data sets of these shards; of those in turn that have the same classes
// the first.
std::vector<ClassSource> FindSources(const std::vector<IndexedShard>& shards) {
  std::vector<ClassSource> sources;
  for (const auto& [index, number] : shards) {
    ClassSource source = SourceAt(*index, number);
    if (sources.empty() || sources.back().classes != source.classes) {
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

[[noreturn]] void RefuseNames(const std::string& first, const std::string& name,
                              const std::string& second,
                              const std::string& other) {
  throw UsageError(
      first + " and " + second + " number their classes differently: \"" +
      name + "\" in " + first + " has the label of \"" + other + "\" in " +
      second + "; read these data sets one at a time, or convert them " +
      "together with imagenet_to_records, which numbers classes by name");
}

// The lowest label that is known of a first name.
std::optional<int> LowestFirst(const std::vector<ClassSource>& sources) {
  std::optional<int> first;
  for (const ClassSource& source : sources) {
    if (source.classes.first && !source.classes.names.empty()) {
      first = std::min(first.value_or(*source.classes.first),
                       *source.classes.first);
    }
  }
  return first;
}

IndexClasses Join(const std::vector<ClassSource>& sources) {
  if (sources.size() == 1) {
    return sources.front().classes;
  }
  IndexClasses all = {.first = LowestFirst(sources)};
  const int first = all.first.value_or(0);
  std::vector<const ClassSource*> named_by;  // of each name
  for (const ClassSource& source : sources) {
    const std::vector<std::string>& names = source.classes.names;
    all.is_of_all = all.is_of_all && !names.empty();
    const auto shift =
        static_cast<std::size_t>(source.classes.first.value_or(first) - first);
    if (!names.empty() && names.size() + shift > all.names.size()) {
      all.names.resize(names.size() + shift);
      named_by.resize(all.names.size());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::string& name = all.names[i + shift];
      const ClassSource*& by = named_by[i + shift];
      if (by == nullptr) {
        name = names[i];
        by = &source;
      } else if (name != names[i]) {
        RefuseNames(by->name, name, source.name, names[i]);
      }
    }
  }
  return all;
}

// What `find` finds beside a shard; nothing where a server refuses the file.
template <typename Found>
Found Unrefused(Found (*find)(const std::string&), const std::string& shard) {
  try {
    return find(shard);
  } catch (const StoppedError&) {
    throw;
  } catch (const IoError&) {
    if (!IsUrl(shard)) {
      throw;
    }
    return {};
  }
}

}  // namespace

std::optional<DatasetInfo> InfoBeside(const std::string& shard) {
  return Unrefused(FindDatasetInfo, shard);
}

std::vector<std::string> NamesBeside(const std::string& shard) {
  return Unrefused(FindClassList, shard);
}

IndexClasses ClassesBeside(const std::string& shard) {
  std::optional<DatasetInfo> info = InfoBeside(shard);
  if (info && !info->classes.empty()) {
    return {.names = std::move(info->classes),
            .first = info->first_label.value_or(1)};
  }
  return {.names = NamesBeside(shard),
          .first = info ? info->first_label : std::nullopt};
}

IndexClasses ClassesBeside(std::span<const std::string> shards) {
  std::vector<ClassSource> sources;
  std::set<std::string> seen;
  for (const std::string& shard : shards) {
    if (seen.insert(DatasetFolders(shard).front()).second) {
      sources.push_back(SourceBeside(shard));
    }
  }
  return Join(sources);
}

IndexClasses FindClasses(const RecordIndex& index) {
  const RecordIndex* const only = &index;
  return Join(FindSources(FirstShards(std::span(&only, 1))));
}

void RequireOneNumbering(std::span<const RecordIndex* const> indexes) {
  const std::vector<IndexedShard> shards = FirstShards(indexes);
  if (shards.size() > 1) {
    (void)Join(FindSources(shards));
  }
}

void RequireOneNumbering(const RecordIndex& index) {
  const RecordIndex* const only = &index;
  RequireOneNumbering(std::span(&only, 1));
}

}  // namespace infeed
