#include "records/cloud/object_sink.h"

#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "tests/support/cloud_environment.h"
#include "tests/support/loopback_server.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::object_sink_test {

constexpr const char* kUrl = "s3://b/k";
constexpr const char* kPath = "/b/k";

// The value of a field of a query; "" when it is not there.
std::string FieldOf(const std::string& query, const std::string& name) {
  const std::size_t place = ("&" + query).find("&" + name + "=");
  if (place == std::string::npos) {
    return "";
  }
  const std::string rest = query.substr(place + name.size() + 1);
  return rest.substr(0, rest.find('&'));
}

// A store that only accepts uploads of objects, whole and in parts.
// Thread-safe.
class UploadStore {
 public:
  // Refuses this part with this status, always.
  void FailPart(int number, int status) { failures_[number] = status; }

  [[nodiscard]] LoopbackServer::Handler handler() {
    return [this](const std::string& request) {
      const std::lock_guard lock(mutex_);
      return Answer(request);
    };
  }

  // The object at a path; "none" if there is none.
  [[nodiscard]] std::string Get(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    return found == objects_.end() ? "none" : found->second;
  }

  [[nodiscard]] int uploads_open() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(uploads_.size());
  }

 private:
  using Reply = LoopbackServer::Reply;
  struct Upload {
    std::string path;
    std::map<int, std::string> parts;
  };

  Reply Answer(const std::string& request) {
    const std::size_t blank = request.find(' ');
    const std::string method = request.substr(0, blank);
    const std::string target =
        request.substr(blank + 1, request.find(' ', blank + 1) - blank - 1);
    const std::string path = target.substr(0, target.find('?'));
    const std::string query =
        path.size() < target.size() ? target.substr(path.size() + 1) : "";
    const std::string body = request.substr(request.find("\r\n\r\n") + 4);
    if (method == "POST") {
      return Post(path, query, body);
    }
    if (method == "PUT") {
      return Put(path, query, body);
    }
    if (method == "DELETE") {
      uploads_.erase(FieldOf(query, "uploadId"));
      return {HttpAnswer(204)};
    }
    return {"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n"};
  }

  Reply Post(const std::string& path, const std::string& query,
             const std::string& body) {
    if (query == "uploads=") {
      const std::string id = "u" + std::to_string(++next_);
      uploads_[id].path = path;
      return {
          HttpAnswer(200, "<InitiateMultipartUploadResult><UploadId>" + id +
                              "</UploadId></InitiateMultipartUploadResult>")};
    }
    const std::string id = FieldOf(query, "uploadId");
    std::string whole;
    for (const auto& [number, part] : uploads_.at(id).parts) {
      // Each part must be named, by its own ETag.
      if (body.find("<PartNumber>" + std::to_string(number) +
                    "</PartNumber><ETag>\"p" + std::to_string(number) + "\"") ==
          std::string::npos) {
        return {HttpAnswer(400, "<Error><Code>InvalidPart</Code></Error>")};
      }
      whole += part;
    }
    objects_[path] = whole;
    uploads_.erase(id);
    return {HttpAnswer(200, "<CompleteMultipartUploadResult/>")};
  }

  Reply Put(const std::string& path, const std::string& query,
            const std::string& body) {
    const std::string id = FieldOf(query, "uploadId");
    if (id.empty()) {
      objects_[path] = body;
      return {HttpAnswer(200)};
    }
    const int number = std::stoi(FieldOf(query, "partNumber"));
    if (const auto failure = failures_.find(number);
        failure != failures_.end()) {
      return {HttpAnswer(failure->second)};
    }
    uploads_.at(id).parts[number] = body;
    return {
        HttpAnswer(200, "", "ETag: \"p" + std::to_string(number) + "\"\r\n")};
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::map<std::string, Upload> uploads_;
  std::map<int, int> failures_;
  int next_ = 0;
};

// A store that is written in parts of 10 bytes.
class ObjectSinkTest : public ::testing::Test {
 protected:
  ObjectSinkTest() {
    environment_.Set("AWS_ENDPOINT_URL", server_.url());
    settings_.part_bytes = 10;
    settings_.block_bytes = 10;
    settings_.connections = 2;
    settings_.retry.attempts = 2;
    settings_.retry.first_delay = std::chrono::milliseconds(1);
    SetCloudSettings(settings_);
  }
  ~ObjectSinkTest() override { SetCloudSettings({}); }

  // Written in pieces of this size.
  static void Write(ByteSink& sink, const std::string& text,
                    std::size_t piece) {
    for (std::size_t i = 0; i < text.size(); i += piece) {
      sink.Write(std::string_view(text).substr(i, piece));
    }
  }
  static std::string Text(std::size_t count) {
    std::string text;
    while (text.size() < count) {
      text.push_back(static_cast<char>('a' + text.size() % 26));
    }
    return text;
  }

  CloudEnvironment environment_;
  CloudSettings settings_;
  UploadStore store_;
  LoopbackServer server_{store_.handler()};
};

TEST_F(ObjectSinkTest, PutsASmallObjectAtOnce) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}}) {
    ObjectSink sink(kUrl);
    Write(sink, Text(size), 3);
    EXPECT_EQ(sink.size(), static_cast<std::int64_t>(size));
    EXPECT_EQ(store_.Get(kPath), size == 0 ? "none" : "");
    sink.Commit();
    EXPECT_EQ(store_.Get(kPath), Text(size));
  }
  EXPECT_EQ(server_.requests().size(), 2);
}

TEST_F(ObjectSinkTest, WritesALargeObjectInPartsOnceItIsCommitted) {
  {
    ObjectSink sink(kUrl);
    Write(sink, Text(50), 10);
    EXPECT_EQ(store_.Get(kPath), "none");
  }
  EXPECT_EQ(store_.Get(kPath), "none");
  EXPECT_EQ(store_.uploads_open(), 0);
  for (const std::size_t piece : {1, 7, 10, 25, 1000}) {
    for (const std::size_t size : {11, 20, 95, 100}) {
      ObjectSink sink(kUrl);
      Write(sink, Text(size), piece);
      sink.Commit();
      EXPECT_EQ(store_.Get(kPath), Text(size)) << size << " by " << piece;
    }
  }
  EXPECT_EQ(store_.uploads_open(), 0);
}

TEST_F(ObjectSinkTest, APartThatFailsFailsTheWhole) {
  store_.FailPart(2, 403);
  EXPECT_THAT(MessageOf<IoError>([&] {
                ObjectSink sink(kUrl);
                Write(sink, Text(100), 10);
                sink.Commit();
              }),
              AllOf(HasSubstr("s3://b/k: cannot write"), HasSubstr("403")));
  EXPECT_EQ(store_.Get(kPath), "none");
  EXPECT_EQ(store_.uploads_open(), 0);
}

TEST_F(ObjectSinkTest, GetsOnWithoutMemoryForParts) {
  settings_.byte_budget = settings_.block_bytes;
  SetCloudSettings(settings_);
  const auto budget = SharedCloudRuntime()->budget;
  const ByteBudget::Share all = budget->TryTake(10);
  ASSERT_NE(all, nullptr);
  ObjectSink sink(kUrl);
  Write(sink, Text(60), 10);
  sink.Commit();
  EXPECT_EQ(store_.Get(kPath), Text(60));
}

TEST_F(ObjectSinkTest, PartsGrowSoThatTenThousandSuffice) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  std::int64_t sum = 0;
  for (int number = 1; number <= 10'000; ++number) {
    const std::int64_t bytes = ObjectSink::PartBytes(number, 8 * kMiB);
    EXPECT_LE(bytes, 5 * 1024 * kMiB);
    sum += bytes;
  }
  EXPECT_EQ(ObjectSink::PartBytes(1000, 8 * kMiB), 8 * kMiB);
  EXPECT_EQ(ObjectSink::PartBytes(1001, 8 * kMiB), 16 * kMiB);
  EXPECT_GT(sum, 5 * 1024 * 1024 * kMiB);
}

TEST_F(ObjectSinkTest, RefusesWhatCannotBeWrittenAtOnce) {
  EXPECT_THAT(
      MessageOf<UsageError>([] { (void)ObjectSink("https://h/x?token"); }),
      AllOf(HasSubstr("https://h/x: cannot be written"), HasSubstr("s3://")));
}

}  // namespace infeed::object_sink_test
