#include "records/cloud/fetch_pool.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace infeed {
namespace {

// Work items shared by several threads. A helper thread that starts after the
// caller has returned finds no item left, so it never touches the caller's
// function.
class SharedWork {
 public:
  SharedWork(std::size_t count, const std::function<void(std::size_t)>& work)
      : left_(count), work_(work) {}

  void Help() {
    while (const std::optional<std::size_t> place = Take()) {
      std::exception_ptr error;
      try {
        work_(*place);
      } catch (...) {
        error = std::current_exception();
      }
      End(std::move(error));
    }
  }

  void Finish() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return left_ == 0 && running_ == 0; });
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  std::optional<std::size_t> Take() {
    const std::lock_guard lock(mutex_);
    if (left_ == 0) {
      return std::nullopt;
    }
    --left_;
    ++running_;
    return next_++;
  }

  void End(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    --running_;
    if (error) {
      left_ = 0;
      if (!error_) {
        error_ = std::move(error);
      }
    }
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t left_;
  std::size_t running_ = 0;
  std::size_t next_ = 0;
  std::exception_ptr error_;
  const std::function<void(std::size_t)>& work_;
};

}  // namespace

FetchPool::Workers::Workers(int count)
    : tasks(std::numeric_limits<std::size_t>::max()) {
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([this](const std::stop_token& stop) {
      while (const std::optional<Task> task = tasks.Pop()) {
        (*task)(stop);
      }
    });
  }
}

FetchPool::FetchPool(int threads)
    : workers_(std::make_unique<Workers>(threads)) {}

FetchPool::~FetchPool() {
  Stop();
  if (!IsHere()) {
    (void)workers_.release();
  }
}

void FetchPool::Stop() {
  if (!IsHere()) {
    return;
  }
  for (std::jthread& thread : workers_->threads) {
    thread.request_stop();
  }
  workers_->tasks.Cancel();
  for (std::jthread& thread : workers_->threads) {
    if (thread.joinable()) {
      thread.join();
    }
  }
}

void FetchPool::Submit(Task task) {
  (void)workers_->tasks.Push(std::move(task));
}

void FetchPool::ForEach(std::size_t count,
                        const std::function<void(std::size_t)>& work) {
  const auto shared = std::make_shared<SharedWork>(count, work);
  const std::size_t helpers = std::min(count, workers_->threads.size() + 1) -
                              std::min<std::size_t>(count, 1);
  for (std::size_t i = 0; i < helpers; ++i) {
    Submit([shared](const std::stop_token&) { shared->Help(); });
  }
  shared->Help();
  shared->Finish();
}

}  // namespace infeed
