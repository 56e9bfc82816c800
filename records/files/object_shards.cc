#include "records/files/object_shards.h"

#include <fnmatch.h>

#include <array>
#include <string_view>

#include "base/error.h"
#include "records/cloud/object_store.h"
#include "records/files/shards.h"
#include "records/http/url.h"

namespace infeed {
namespace {

constexpr std::string_view kWildcards = "*?[";
constexpr std::array<std::string_view, 3> kSplitFolders = {
    "train", "validation", "test"};
constexpr std::string_view kShardNames = "shards are named *-NNNNN-of-NNNNN";

std::string AsFolder(const std::string& url) {
  return url.ends_with('/') ? url : url + "/";
}

std::vector<std::string> ShardsOfFolder(const std::string& folder) {
  std::vector<std::string> shards = ShardObjectsIn(folder);
  for (const std::string_view split : kSplitFolders) {
    const std::vector<std::string> more =
        ShardObjectsIn(AsFolder(folder) + std::string(split));
    shards.insert(shards.end(), more.begin(), more.end());
  }
  return shards;
}

std::vector<std::string> ShardsOfPattern(const std::string& pattern) {
  const std::size_t wildcard = ParseUrl(pattern).path.find_first_of(kWildcards);
  const std::size_t start =
      pattern.size() - ParseUrl(pattern).path.size() + wildcard;
  if (pattern.find('/', start) != std::string::npos) {
    throw UsageError(pattern +
                     ": of a URL only the last part may have wildcards");
  }
  std::vector<std::string> shards;
  const std::string name = BaseNameOfUrl(pattern);
  for (ObjectEntry& object :
       SharedObjectStore()->List(pattern.substr(0, start)).objects) {
    const std::string base = BaseNameOfUrl(object.url);
    if (IsShardName(base) && ::fnmatch(name.c_str(), base.c_str(), 0) == 0) {
      shards.push_back(std::move(object.url));
    }
  }
  if (shards.empty()) {
    throw IoError(pattern + ": no shard matches this pattern (" +
                  std::string(kShardNames) + ")");
  }
  return shards;
}

}  // namespace

std::string BaseNameOfUrl(const std::string& url) {
  return url.substr(url.rfind('/') + 1);
}

std::vector<std::string> ShardObjectsIn(const std::string& folder_url) {
  std::vector<std::string> shards;
  for (ObjectEntry& object :
       SharedObjectStore()->List(AsFolder(folder_url)).objects) {
    if (IsShardName(BaseNameOfUrl(object.url))) {
      shards.push_back(std::move(object.url));
    }
  }
  return shards;
}

std::vector<std::string> ShardsOfUrl(const std::string& url) {
  const Url parsed = ParseUrl(url);
  const bool in_bucket = IsBucketScheme(parsed.scheme);
  if (in_bucket && parsed.path.find_first_of(kWildcards) != std::string::npos) {
    return ShardsOfPattern(url);
  }
  const bool may_be_object = !parsed.path.empty() && !url.ends_with('/');
  if (may_be_object && SharedObjectStore()->Find(url)) {
    return {url};
  }
  std::vector<std::string> shards;
  if (in_bucket) {
    shards = ShardsOfFolder(url);
  }
  if (shards.empty()) {
    throw IoError(UrlForMessages(url) +
                  ": cannot find the data: there is no such object" +
                  (in_bucket ? ", nor shards in a folder of that name (" +
                                   std::string(kShardNames) + ")"
                             : ""));
  }
  return shards;
}

}  // namespace infeed
