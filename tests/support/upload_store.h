#pragma once

#include <map>
#include <mutex>
#include <string>

#include "tests/support/loopback_server.h"

namespace infeed {

// A store that only accepts uploads of objects, whole and in parts.
// Thread-safe.
class UploadStore {
 public:
  // Refuses this part with this status, always.
  void FailPart(int number, int status);

  [[nodiscard]] LoopbackServer::Handler handler();

  // The object at a path; "none" if there is none.
  [[nodiscard]] std::string Get(const std::string& path) const;
  [[nodiscard]] int uploads_open() const;

 private:
  struct Upload {
    std::string path;
    std::map<int, std::string> parts;
  };
  LoopbackServer::Reply Answer(const std::string& request);
  LoopbackServer::Reply Post(const std::string& path, const std::string& query,
                             const std::string& body);
  LoopbackServer::Reply Put(const std::string& path, const std::string& query,
                            const std::string& body);

  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::map<std::string, Upload> uploads_;
  std::map<int, int> failures_;
  int next_ = 0;
};

}  // namespace infeed
