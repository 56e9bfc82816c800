#include "tests/support/upload_store.h"

#include <utility>

namespace infeed {
namespace {

using Reply = LoopbackServer::Reply;

// The value of a field of a query; "" when it is not there.
std::string FieldOf(const std::string& query, const std::string& name) {
  const std::size_t place = ("&" + query).find("&" + name + "=");
  if (place == std::string::npos) {
    return "";
  }
  const std::string rest = query.substr(place + name.size() + 1);
  return rest.substr(0, rest.find('&'));
}

}  // namespace

void UploadStore::FailPart(int number, int status) {
  failures_[number] = status;
}

LoopbackServer::Handler UploadStore::handler() {
  return [this](const std::string& request) {
    const std::lock_guard lock(mutex_);
    return Answer(request);
  };
}

std::string UploadStore::Get(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(path);
  return found == objects_.end() ? "none" : found->second;
}

int UploadStore::uploads_open() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(uploads_.size());
}

Reply UploadStore::Answer(const std::string& request) {
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

Reply UploadStore::Post(const std::string& path, const std::string& query,
                        const std::string& body) {
  if (query == "uploads=") {
    const std::string id = "u" + std::to_string(++next_);
    uploads_[id].path = path;
    return {HttpAnswer(200, "<InitiateMultipartUploadResult><UploadId>" + id +
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

Reply UploadStore::Put(const std::string& path, const std::string& query,
                       const std::string& body) {
  const std::string id = FieldOf(query, "uploadId");
  if (id.empty()) {
    objects_[path] = body;
    return {HttpAnswer(200)};
  }
  const int number = std::stoi(FieldOf(query, "partNumber"));
  if (const auto failure = failures_.find(number); failure != failures_.end()) {
    return {HttpAnswer(failure->second)};
  }
  uploads_.at(id).parts[number] = body;
  return {HttpAnswer(200, "", "ETag: \"p" + std::to_string(number) + "\"\r\n")};
}

}  // namespace infeed
