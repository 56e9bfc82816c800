// Photographs give one stream, whether in a folder, tars, a zip, TFRecords or
// the cloud.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "records/cloud/cloud_settings.h"
#include "records/files/open_source.h"
#include "records/store/index_data.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/environment_variable.h"
#include "tests/support/loopback_server.h"
#include "tests/support/photograph_forms.h"
#include "tests/support/served_object.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::stream_forms_test {

struct FormsCase {
  const char* split;
  InputOptions options;
};

TEST(StreamFormsTest, AreOneStream) {
  const TemporaryFolder cache;
  const EnvironmentVariable cache_home("XDG_CACHE_HOME", cache.path());
  const PhotographForms forms;
  for (FormsCase one :
       {FormsCase{"train", {.threads = 1}},
        FormsCase{
            "train",
            {.preprocess = {.recipe = Recipe::kTorchvision}, .threads = 3}},
        FormsCase{"train", {.shuffle = Shuffle::kNone, .threads = 2}},
        FormsCase{"validation", {.training = false, .threads = 2}}}) {
    one.options.batch_size = 8;
    one.options.preprocess.image_size = 16;
    one.options.on_bad_record = OnBadRecord::kFail;
    const auto stream = [&](const std::string& data) {
      return Stream(IndexSplitThatIsThere(data, one.split), one.options, 12);
    };
    const std::vector<BatchCopy> expected = stream(forms.shards());
    for (const std::string& data : forms.all()) {
      EXPECT_EQ(stream(data), expected) << data << " " << one.split;
    }
  }
}

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
  const RecordIndex& files = SharedIndex();
  InputOptions options = SmallTraining();
  options.label_offset = 1;  // Else all is read for it.
  LoopbackServer server(ServeShards(files.shards()));
  CloudEnvironment environment;
  environment.Set("AWS_ENDPOINT_URL", server.url());
  SetCloudSettings({});
  std::vector<std::string> urls;
  for (const std::string& path : files.shards()) {
    urls.push_back("s3://bucket/" + FileNameOf(path));
  }
  const RecordIndex index(urls, {.use_cache = false});
  const std::size_t indexed = server.requests().size();
  EXPECT_EQ(Stream(index, options, 7), Stream(files, options, 7));

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

}  // namespace infeed::stream_forms_test
