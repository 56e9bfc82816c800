#include "trainer/feed/predict_input.h"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/object_store.h"
#include "records/files/folder_listing.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/shards.h"
#include "records/http/url.h"
#include "records/store/index_data.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

// The images and shards named so far.
struct Named {
  const OnShardSetFaults& on_faults;
  std::vector<std::string> images = {};
  std::vector<std::string> shards = {};
};

void AddImagesOf(const std::string& folder, std::vector<std::string>& images) {
  const FolderWalk walk = WalkFolder(folder, UnreadableFiles::kTake);
  for (const FolderEntry& image : walk.images) {
    images.push_back((fs::path(folder) / image.name).string());
  }
}

// Adds the images below a bucket's URL.
void AddImagesBelow(const std::string& url, std::vector<std::string>& images) {
  const ObjectListing listing = SharedObjectStore()->List(url);
  for (const ObjectEntry& object : listing.objects) {
    if (HasImageExtension(object.url)) {
      images.push_back(object.url);
    }
  }
  for (const std::string& folder : listing.folders) {
    AddImagesBelow(folder, images);
  }
}

bool IsShard(const fs::path& path) {
  return IsRecordFileName(path.filename().string());
}

void AddShards(const std::string& spec, Named& named) {
  const std::vector<std::string> shards = ListShards(spec, named.on_faults);
  named.shards.insert(named.shards.end(), shards.begin(), shards.end());
}

void AddFolder(const std::string& folder, Named& named) {
  const std::size_t before = named.images.size();
  AddImagesOf(folder, named.images);
  if (named.images.size() > before) {
    return;
  }
  try {
    AddShards(folder, named);
  } catch (const IoError&) {
    throw UsageError("input=" + folder +
                     ": there is no image and no shard in the folder");
  }
}

// Objects are classified only by their names.
void AddUrl(const std::string& url, Named& named) {
  const std::string name = FileNameOf(url);
  if (HasImageExtension(name)) {
    named.images.push_back(url);
    return;
  }
  const std::size_t before = named.images.size();
  if (IsBucketScheme(ParseUrl(url).scheme) && !IsShard(name) &&
      url.find_first_of("*?[") == std::string::npos) {
    AddImagesBelow(url.ends_with('/') ? url : url + "/", named.images);
  }
  if (named.images.size() == before) {
    AddShards(url, named);
  }
}

void AddInput(const std::string& input, Named& named) {
  if (IsUrl(input)) {
    return AddUrl(input, named);
  }
  std::error_code ignored;
  if (fs::is_directory(input, ignored)) {
    return AddFolder(input, named);
  }
  const bool exists = fs::exists(input, ignored);
  const bool is_pattern =
      !exists && input.find_first_of("*?[") != std::string::npos;
  if (is_pattern && HasImageExtension(input)) {
    throw UsageError("input=" + input +
                     ": a pattern names shards, and this one images; leave out "
                     "the quotes around it, or give the folder");
  }
  if (IsShard(input) || is_pattern) {
    return AddShards(input, named);
  }
  if (!exists) {
    throw IoError(input, "read", ENOENT);
  }
  named.images.push_back(input);
}

// The name of the folder that an image is in, without a URL's %XX.
std::string FolderNameOf(const std::string& path) {
  const std::string name =
      fs::absolute(PathForMessages(path)).parent_path().filename().string();
  return IsUrl(path) && !IsBucketScheme(ParseUrl(path).scheme)
             ? PercentDecode(name)
             : name;
}

std::vector<LabelledImage> WithLabels(std::vector<std::string> paths,
                                      const ModelLabels& labels) {
  std::vector<LabelledImage> files;
  files.reserve(paths.size());
  for (std::string& path : paths) {
    const std::optional<std::int64_t> index =
        labels.IndexOf(NameText(FolderNameOf(path)));
    files.push_back(
        {.path = std::move(path), .label = index ? *index + 1 : kNoLabel});
  }
  return files;
}

}  // namespace

RecordIndex RecordsOf(const std::vector<std::string>& inputs,
                      const ModelLabels& labels,
                      const OnShardSetFaults& on_faults) {
  Named named = {.on_faults = on_faults};
  for (const std::string& input : inputs) {
    AddInput(input, named);
  }
  if (!named.images.empty() && !named.shards.empty()) {
    throw UsageError("input: " + PathForMessages(named.images.front()) +
                     " is an image and " +
                     PathForMessages(named.shards.front()) +
                     " a shard; give one kind at a time");
  }
  return named.images.empty() ? RecordIndex(std::move(named.shards))
                              : RecordIndex::OfImages(WithLabels(
                                    std::move(named.images), labels));
}

RecordIndex RecordsOfSplit(const std::string& data_dir,
                           const std::string& split,
                           const OnShardSetFaults& on_faults) {
  const bool is_auto = split == "auto";
  std::optional<RecordIndex> index =
      IndexSplit(data_dir, is_auto ? "test" : split, {.on_faults = on_faults});
  if (!index && is_auto) {
    index = IndexSplit(data_dir, "validation", {.on_faults = on_faults});
  }
  if (!index) {
    throw UsageError(
        "data_dir=" + MissingSplitText(data_dir, is_auto ? "test" : split) +
        ", or give --input");
  }
  return *std::move(index);
}

}  // namespace infeed
