#include "pipeline/remote/worker_list_reader.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace infeed {

struct WorkerListReader::State {
  State(WorkerList given, const LinkTimes& waits, OnRead called)
      : list(std::move(given)), times(waits), on_read(std::move(called)) {}

  WorkerList list;  // the thread's
  const LinkTimes times;
  const OnRead on_read;
  std::mutex mutex;  // of what follows, and of calls of on_read
  std::condition_variable end;
  bool is_stopping = false;
  bool is_reading = false;
};

WorkerListReader::WorkerListReader(WorkerList list, const LinkTimes& times,
                                   OnRead on_read)
    : state_(
          std::make_shared<State>(std::move(list), times, std::move(on_read))),
      thread_([state = state_] { Read(*state); }) {}

WorkerListReader::~WorkerListReader() {
  bool is_reading = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
    is_reading = state_->is_reading;
  }
  state_->end.notify_one();
  if (is_reading) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void WorkerListReader::Read(State& state) {
  (void)::pthread_setname_np(::pthread_self(), "infeed names");
  std::unique_lock lock(state.mutex);
  while (!state.is_stopping) {
    state.is_reading = true;
    lock.unlock();
    std::vector<std::string> addresses = state.list.Addresses();
    lock.lock();
    state.is_reading = false;
    if (state.is_stopping) {
      return;
    }
    // Before any is known, it is asked for more often.
    const std::chrono::milliseconds wait =
        addresses.empty()
            ? std::min(state.times.first_retry, state.times.resolve)
            : state.times.resolve;
    state.on_read(std::move(addresses), state.list.TakeNotes());
    state.end.wait_for(lock, wait, [&] { return state.is_stopping; });
  }
}

}  // namespace infeed
