#include "records/cloud/object_sink.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/http/url.h"

namespace infeed {
namespace {

// Part size doubles after every so many parts: 10,000 parts then hold 8 TiB,
// more than a store's largest object, and the largest part has 4 GiB, less than
// a store's limit.
constexpr int kPartsUntilDouble = 1000;
constexpr int kMaxParts = 10'000;
// Parts being sent, besides the one being filled.
constexpr int kMaxOnTheirWay = 4;

}  // namespace

// An upload in parts. Its tasks share ownership: the last task may still be
// finishing when the sink is destroyed.
class ObjectSink::Parts : public std::enable_shared_from_this<Parts> {
 public:
  Parts(const CloudRuntime& runtime, std::string url)
      : runtime_(runtime),
        url_(std::move(url)),
        upload_(runtime.store.StartUpload(url_)) {}

  // Sends a part on a thread of the pool, or on this thread when kMaxOnTheirWay
  // parts are being sent or the byte budget has no room.
  void Send(int number, std::vector<std::byte> bytes) {
    ByteBudget::Share share;
    if (TakeTurn()) {
      share = runtime_.budget->TryTake(static_cast<std::int64_t>(bytes.size()));
    }
    if (share == nullptr) {
      SendNow(number, bytes);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      ++on_their_way_;
    }
    auto task = std::make_shared<Task>(
        Task{.bytes = std::move(bytes), .share = std::move(share)});
    runtime_.pool->Submit(
        [self = shared_from_this(), task, number](const std::stop_token&) {
          self->SendNow(number, task->bytes);
          const std::lock_guard lock(self->mutex_);
          --self->on_their_way_;
          self->ended_.notify_all();
        });
  }

  // Waits for all parts; rethrows the first part's failure.
  void Wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return on_their_way_ == 0; });
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

  void Complete() {
    Wait();
    runtime_.store.CompleteUpload(url_, upload_, etags_);
  }

  // Removes the unfinished upload from the store, if the store can be reached.
  void Abort() noexcept {
    {
      const std::lock_guard lock(mutex_);
      given_up_ = true;
    }
    try {
      Wait();
    } catch (const std::exception&) {
      // Reported before, or no longer of interest.
    }
    try {
      runtime_.store.AbortUpload(url_, upload_);
    } catch (const std::exception&) {  // The bucket's lifecycle rules can
                                       // remove it later.
    }
  }

 private:
  struct Task {
    std::vector<std::byte> bytes;
    ByteBudget::Share share;
  };

  // Rethrows the failure of an earlier part.
  [[nodiscard]] bool TakeTurn() {
    const std::lock_guard lock(mutex_);
    if (error_) {
      std::rethrow_exception(error_);
    }
    return on_their_way_ < kMaxOnTheirWay;
  }

  void SendNow(int number, std::span<const std::byte> bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (given_up_ || error_) {
        return;
      }
    }
    std::string etag;
    std::exception_ptr error;
    try {
      etag = runtime_.store.UploadPart(url_, upload_, number, bytes);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (error && !error_) {
      error_ = std::move(error);
    }
    const auto place = static_cast<std::size_t>(number - 1);
    etags_.resize(std::max(etags_.size(), place + 1));
    etags_[place] = std::move(etag);
  }

  const CloudRuntime& runtime_;
  const std::string url_;
  const std::string upload_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int on_their_way_ = 0;
  bool given_up_ = false;
  std::exception_ptr error_;
  std::vector<std::string> etags_;
};

ObjectSink::ObjectSink(const std::string& url)
    : ObjectSink(url, SharedCloudRuntime()) {}

ObjectSink::ObjectSink(const std::string& url,
                       std::shared_ptr<const CloudRuntime> runtime)
    : runtime_(std::move(runtime)), url_(url) {
  (void)ParseWritableUrl(url);
}

ObjectSink::~ObjectSink() {
  if (parts_ != nullptr) {
    parts_->Abort();
  }
}

std::int64_t ObjectSink::PartBytes(int number, std::int64_t smallest) {
  return smallest << ((number - 1) / kPartsUntilDouble);
}

void ObjectSink::Write(std::span<const std::byte> bytes) {
  size_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const auto room = static_cast<std::size_t>(
                          PartBytes(number_, runtime_->settings.part_bytes)) -
                      part_.size();
    // A full part is sent only when more bytes follow: an object of a single
    // part needs no upload in parts.
    if (room == 0) {
      EndPart();
      continue;
    }
    const auto now = bytes.first(std::min(room, bytes.size()));
    part_.insert(part_.end(), now.begin(), now.end());
    bytes = bytes.subspan(now.size());
  }
}

void ObjectSink::EndPart() {
  if (number_ > kMaxParts) {
    throw IoError(UrlForMessages(url_) +
                  ": cannot write: the object is larger than stores allow");
  }
  if (parts_ == nullptr) {
    parts_ = std::make_shared<Parts>(*runtime_, url_);
  }
  parts_->Send(number_++, std::exchange(part_, {}));
}

void ObjectSink::Commit() {
  if (parts_ == nullptr) {
    runtime_->store.Put(url_, part_);
  } else {
    EndPart();
    parts_->Complete();
    parts_.reset();
  }
  part_ = {};
}

}  // namespace infeed
