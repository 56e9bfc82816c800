#pragma once

#include <string>
#include <vector>

// Shards among the objects of a store; shards.h has the rules.
namespace infeed {

// The shards right in a "folder" of a bucket, s3://BUCKET/FOLDER. Throws
// UsageError for http(s), which has no lists.
[[nodiscard]] std::vector<std::string> ShardObjectsIn(
    const std::string& folder_url);

// What a URL names as data: an object, a folder, or with "*", "?" or "[...]" in
// what follows the last "/" the shards that match. Of http(s) an object alone.
// Throws IoError, naming the URL, when there is nothing.
[[nodiscard]] std::vector<std::string> ShardsOfUrl(const std::string& url);

// The URL's last part.
[[nodiscard]] std::string BaseNameOfUrl(const std::string& url);

}  // namespace infeed
