#include <string>
#include <vector>

#include "base/error.h"
#include "records/cloud/cloud_settings.h"
#include "records/example/imagenet_example.h"
#include "records/files/class_list.h"
#include "records/files/dataset_info.h"
#include "records/store/index_classes.h"
#include "records/store/label_index.h"
#include "records/store/record_store.h"
#include "tests/support/bytes.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/flower_records.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/record_file.h"
#include "tests/support/served_object.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

constexpr const char* kShard = "s3://b/train-00000-of-00001";

// A shard of three records in the cloud: frames at 0, 17 and 33.
class RecordStoreUrlTest : public ::testing::Test {
 protected:
  void Serve(LoopbackServer::Handler handler) {
    server_ = std::make_unique<LoopbackServer>(std::move(handler));
    environment_.Set("AWS_ENDPOINT_URL", server_->url());
    CloudSettings settings;
    settings.retry.attempts = 1;
    SetCloudSettings(settings);
  }
  ~RecordStoreUrlTest() override { SetCloudSettings({}); }

  CloudEnvironment environment_;
  const std::string bytes_ = RecordFile().Add("a").Add("").Add("hello").bytes();
  std::unique_ptr<LoopbackServer> server_;
};

TEST_F(RecordStoreUrlTest, FetchesARecordOnceThatWasAnnounced) {
  Serve(ServeObject(bytes_));
  const RecordIndex index({kShard}, {.use_cache = false});
  Serve(ServeObject(bytes_));  // Without what the index asked for.
  const RecordStore store(index);
  store.WillRead(std::vector<std::int64_t>{2, 0});
  std::vector<std::byte> buffer;
  EXPECT_EQ(AsText(store.Read(0, buffer)), "a");
  EXPECT_EQ(AsText(store.Read(2, buffer)), "hello");
  EXPECT_EQ(AsText(store.Read(1, buffer)), "");
  EXPECT_THAT(RangesAsked(*server_),
              UnorderedElementsAre("0-16", "17-32", "33-53"));
}

TEST_F(RecordStoreUrlTest, FindsAnObjectOnce) {
  Serve(ServeObject(bytes_));
  const RecordIndex index({kShard, "s3://b/other"}, {.use_cache = false});
  Serve(ServeObject(bytes_));
  const RecordStore store(index, {.max_open_shards = 1});
  std::vector<std::byte> buffer;
  for (const std::int64_t record : {0, 3, 1, 4}) {
    (void)store.Read(record, buffer);
  }
  EXPECT_EQ(server_->requests().size(), 2 + 4);  // HEAD of each, and records.
}

TEST_F(RecordStoreUrlTest, ReadsNoObjectThatReplacedTheIndexedOne) {
  Serve(ServeObject(bytes_, "\"first\""));
  const RecordIndex index({kShard}, {.use_cache = false});
  Serve(ServeObject(RecordFile().Add("b").Add("").Add("other").bytes(),
                    "\"second\""));
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  EXPECT_THAT(MessageOf<IoError>([&] { (void)store.Read(0, buffer); }),
              HasSubstr("s3://b/train-00000-of-00001: the object was replaced "
                        "since its records were found"));
}

TEST_F(RecordStoreUrlTest, ReadsImagesOfABucketTogether) {
  Serve(ServeObject("image"));
  const RecordIndex index =
      RecordIndex::OfImages({{.path = "s3://b/a.jpg", .bytes = 5}});
  std::string encoded;
  RecordStore(index).ReadMany(
      std::vector<std::int64_t>{0},
      [&](std::size_t, std::span<const std::byte> payload) {
        encoded = AsText(ParseImagenetExample(payload).encoded);
      },
      [](std::size_t, const DataError& error) { FAIL() << error.what(); });
  EXPECT_EQ(encoded, "image");
}

TEST_F(RecordStoreUrlTest, FetchesAnImageOnceThatWasAnnounced) {
  Serve(ServeObject("image"));
  const RecordIndex index =
      RecordIndex::OfImages({{.path = "s3://b/a.jpg", .bytes = 5}});
  const RecordStore store(index);
  store.WillRead(std::vector<std::int64_t>{0});
  std::vector<std::byte> buffer;
  (void)store.Read(0, buffer);
  EXPECT_EQ(server_->requests().size(), 2);  // HEAD and GET.
}

// Where the files beside it cannot be listed.
TEST_F(RecordStoreUrlTest, TheLabelsOfAWebServersShardCount) {
  for (const int first : {0, 1}) {
    RecordFile file;
    for (const int label : {first, 3}) {
      file.Add(PayloadOf({.image = "image", .label = label}));
    }
    const LoopbackServer server(
        [serve = ServeObject(file.bytes())](const std::string& request) {
          return request.find("/train.tfrecord ") == std::string::npos
                     ? LoopbackServer::Reply{.bytes = HttpAnswer(404)}
                     : serve(request);
        });
    const RecordIndex index({server.url() + "/data/train.tfrecord"},
                            {.use_cache = false});
    EXPECT_EQ(FindLabelOffset(index), first);
  }
}

// A server may refuse all files but shards.
TEST_F(RecordStoreUrlTest, ALabelsFileCountsWhereItIsServed) {
  const std::string shard =
      RecordFile().Add(PayloadOf({.image = "image", .label = 1})).bytes();
  for (const int status : {200, 403, 404}) {
    const LoopbackServer server([=](const std::string& request) {
      const auto asks = [&](const char* name) {
        return request.find(name) != std::string::npos;
      };
      if (asks("/train.tfrecord ")) {
        return ServeObject(shard)(request);
      }
      return status == 200 && asks("/data/labels.txt ")
                 ? ServeObject("cat\ndog\n")(request)
                 : LoopbackServer::Reply{
                       .bytes = HttpAnswer(status == 200 ? 404 : status)};
    });
    const std::string url = server.url() + "/data/train.tfrecord";
    const bool is_there = status == 200;
    EXPECT_THAT(ClassesBeside(url).names, SizeIs(is_there ? 2 : 0)) << status;
    EXPECT_EQ(FindLabelOffset(RecordIndex({url}, {.use_cache = false})),
              is_there ? 0 : 1)
        << status;
  }
}

TEST_F(RecordStoreUrlTest, AnnouncingWhatIsGoneIsNoError) {
  Serve(ServeObject(bytes_));
  const RecordIndex index({kShard}, {.use_cache = false});
  Serve(InTurn({{"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n"}}));
  const RecordStore store(index);
  EXPECT_NO_THROW(store.WillRead(std::vector<std::int64_t>{0}));
  std::vector<std::byte> buffer;
  EXPECT_THROW((void)store.Read(0, buffer), IoError);
}

TEST_F(RecordStoreUrlTest, AWebPageIsNoDescription) {
  for (const char* page : {"<!DOCTYPE html><p>Not found", "\r\n <HTML>"}) {
    Serve(ServeObject(page));
    EXPECT_FALSE(ReadDatasetInfo(server_->url() + "/d")) << page;
    std::vector<std::string> notes;
    EXPECT_THAT(ReadClassTexts(server_->url() + "/d", "", {"n1"}, notes),
                IsEmpty())
        << page;
    EXPECT_THAT(ReadClassList(server_->url() + "/d"), IsEmpty()) << page;
    EXPECT_THAT(
        MessageOf<DataError>([] { (void)ReadDatasetInfo("s3://b/d"); }),
        HasSubstr("s3://b/d/dataset.json: not a data set's description"));
  }
  Serve(ServeObject("{}"));
  EXPECT_THAT(MessageOf<DataError>(
                  [&] { (void)ReadDatasetInfo(server_->url() + "/d"); }),
              HasSubstr("/d/dataset.json: "));
}

TEST_F(RecordStoreUrlTest, ADescriptionsLengthIsLimited) {
  Serve(InTurn({{"HTTP/1.1 200 x\r\nContent-Length: 999999999999\r\n\r\n"}}));
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ReadDatasetInfo("s3://b/d"); }),
      HasSubstr("s3://b/d/dataset.json: has 999999999999 bytes, more than"));
  EXPECT_THAT(
      MessageOf<IoError>([] { (void)ReadClassList("s3://b/labels.txt"); }),
      HasSubstr("s3://b/labels.txt: has 999999999999 bytes, more than"));
}

}  // namespace
}  // namespace infeed
