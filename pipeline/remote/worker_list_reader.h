#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/remote/worker_link.h"
#include "pipeline/remote/worker_list.h"

namespace infeed {

// Reads a list of workers again and again, in a thread of its own, because the
// system's resolver may take minutes.
class WorkerListReader {
 public:
  // Called by the thread after each reading; must not destroy the reader.
  // notes: WorkerList::TakeNotes().
  using OnRead = std::function<void(std::vector<std::string> addresses,
                                    std::vector<std::string> notes)>;

  WorkerListReader(WorkerList list, const LinkTimes& times, OnRead on_read);
  // Does not wait for a resolver: a thread that is in it ends later by itself.
  // on_read is not called any more.
  ~WorkerListReader();
  WorkerListReader(const WorkerListReader&) = delete;
  WorkerListReader& operator=(const WorkerListReader&) = delete;

 private:
  struct State;

  static void Read(State& state);

  std::shared_ptr<State> state_;  // of the thread, too, which may be the last
  std::thread thread_;
};

}  // namespace infeed
