#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "pipeline/engine/input_pipeline.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/open_source.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/loopback_server.h"
#include "tests/support/served_object.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace input_pipeline_url_test {

constexpr int kRecords = 22;
const InputOptions kTraining{.batch_size = 4,
                             .preprocess = {.image_size = 16},
                             .seed = 7,
                             .on_bad_record = OnBadRecord::kFail,
                             .label_offset = 1,  // Else all is read for it.
                             .threads = 2};

// Serves each shard under its name.
LoopbackServer::Handler ServeShards(const std::vector<std::string>& paths) {
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 20;
  std::map<std::string, LoopbackServer::Handler> shards;
  for (const std::string& path : paths) {
    shards[FileNameOf(path)] = ServeObject(ReadWholeFile(path, kMaxBytes));
  }
  return [shards = std::move(shards)](const std::string& request) {
    return shards.at(FileNameOf(request.substr(0, request.find(" HTTP"))))(
        request);
  };
}

// "Range: bytes=12-34" as its two numbers.
std::pair<std::string, std::string> RangeOf(const std::string& request) {
  constexpr std::string_view kRange = "Range: bytes=";
  const std::size_t first = request.find(kRange) + kRange.size();
  const std::size_t dash = request.find('-', first);
  const std::size_t end = request.find('\r', dash);
  return {request.substr(first, dash - first),
          request.substr(dash + 1, end - dash - 1)};
}

TEST(InputPipelineUrlTest, GivesFromTheCloudWhatFilesGive) {
  const TestShards files(TestPayloads(kRecords));
  LoopbackServer server(ServeShards(files.index().shards()));
  CloudEnvironment environment;
  environment.Set("AWS_ENDPOINT_URL", server.url());
  SetCloudSettings({});
  std::vector<std::string> urls;
  for (const std::string& path : files.index().shards()) {
    urls.push_back("s3://bucket/" + FileNameOf(path));
  }
  const RecordIndex index(urls, {.use_cache = false});
  const std::size_t indexed = server.requests().size();
  EXPECT_EQ(Stream(index, kTraining, 7), Stream(files.index(), kTraining, 7));

  // A request is for whole records, one or neighbours that were announced
  // together: no more was fetched than was needed.
  std::set<std::string> firsts;
  std::set<std::string> lasts;
  for (std::int64_t record = 0; record < index.size(); ++record) {
    const RecordLocation place = index.at(record);
    constexpr std::int64_t kFrameBytes = 16;
    firsts.insert(std::to_string(place.offset));
    lasts.insert(std::to_string(place.offset + place.length + kFrameBytes - 1));
  }
  int asked = 0;
  const std::vector<std::string> requests = server.requests();
  for (std::size_t i = indexed; i < requests.size(); ++i) {
    if (requests[i].starts_with("GET")) {
      const auto [first, last] = RangeOf(requests[i]);
      EXPECT_TRUE(firsts.contains(first)) << first;
      EXPECT_TRUE(lasts.contains(last)) << last;
      ++asked;
    }
  }
  EXPECT_GT(asked, 0);
  SetCloudSettings({});
}

}  // namespace input_pipeline_url_test
}  // namespace infeed
