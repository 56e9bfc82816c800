#include "tests/support/loopback_rpc.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSmallReply = 1000;

}  // namespace

// Runs tasks at their times, in threads of its own. Tasks that are not due at
// its end are dropped.
class LoopbackThreads {
 public:
  explicit LoopbackThreads(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { Run(); });
    }
  }
  ~LoopbackThreads() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    for (std::thread& one : threads_) {
      one.join();
    }
  }
  LoopbackThreads(const LoopbackThreads&) = delete;
  LoopbackThreads& operator=(const LoopbackThreads&) = delete;

  void At(Clock::time_point time, std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.emplace(time, std::move(task));
    }
    wake_.notify_all();
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      if (tasks_.empty()) {
        wake_.wait(lock);
      } else if (const Clock::time_point first = tasks_.begin()->first;
                 first > Clock::now()) {
        wake_.wait_until(lock, first);
      } else {
        std::function<void()> task = std::move(tasks_.begin()->second);
        tasks_.erase(tasks_.begin());
        lock.unlock();
        task();
        task = nullptr;  // What it keeps goes without the lock.
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::multimap<Clock::time_point, std::function<void()>> tasks_;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

class LoopbackCall;

// The calls of a channel that have not ended.
struct LoopbackCalls {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::shared_ptr<LoopbackCall>> calls;
};

// A call as its caller sees it.
class LoopbackCall : public std::enable_shared_from_this<LoopbackCall> {
 public:
  LoopbackCall(std::shared_ptr<LoopbackCalls> of, std::string address,
               std::int64_t max_reply, RpcChannel::Done done)
      : of_(std::move(of)),
        address_(std::move(address)),
        max_reply_(max_reply),
        done_(std::move(done)) {}

  // Only the first end counts.
  void End(const RpcStatus& status, RpcPieces reply = {}) {
    if (is_over_.exchange(true)) {
      return;
    }
    done_(status, reply);
    done_ = nullptr;
    const std::lock_guard lock(of_->mutex);
    of_->calls.erase(shared_from_this());
    of_->changed.notify_all();
  }

  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::int64_t max_reply() const { return max_reply_; }

 private:
  const std::shared_ptr<LoopbackCalls> of_;
  const std::string address_;
  const std::int64_t max_reply_;
  RpcChannel::Done done_;
  std::atomic<bool> is_over_{false};
};

// A handler, and how many of its calls have not returned.
struct LoopbackListener {
  std::string token;
  std::int64_t max_request = 0;
  RpcServer::Handler handler;
  int running = 0;
};

class LoopbackRpc::Network : public std::enable_shared_from_this<Network> {
 public:
  explicit Network(int threads) : threads_(threads) {}

  void Begin(std::shared_ptr<LoopbackCall> call, const std::string& token,
             std::string method, std::string request,
             std::chrono::milliseconds timeout);
  // A handler has answered; its reply may be kept until it is sent.
  void Reply(std::shared_ptr<LoopbackCall> call, RpcStatus status,
             std::vector<RpcPiece> reply);

  // Returns the port.
  int Add(std::string& address, LoopbackListener listener);
  void Remove(const std::string& address);

  void SetFaults(const std::string& address, const LoopbackFaults& faults);
  [[nodiscard]] int calls(const std::string& address,
                          const std::string& method) const;

 private:
  [[nodiscard]] LoopbackFaults FaultsOf(const std::string& address) const {
    const std::lock_guard lock(mutex_);
    const auto found = faults_.find(address);
    return found == faults_.end() ? LoopbackFaults() : found->second;
  }
  void Handle(const std::shared_ptr<LoopbackCall>& call,
              const std::string& token, const std::string& method,
              const std::string& request);
  void Deliver(LoopbackCall& call, const RpcStatus& status,
               const std::vector<RpcPiece>& reply);

  mutable std::mutex mutex_;
  std::condition_variable returned_;  // a handler
  std::map<std::string, LoopbackListener> listeners_;
  std::map<std::string, LoopbackFaults> faults_;
  std::map<std::string, std::vector<std::weak_ptr<LoopbackCall>>> begun_;
  std::map<std::pair<std::string, std::string>, int> counts_;
  int last_port_ = 20000;
  LoopbackThreads threads_;
};

namespace {

// A call as its handler sees it.
class LoopbackServerCall final : public RpcServerCall {
 public:
  LoopbackServerCall(std::shared_ptr<LoopbackRpc::Network> network,
                     std::shared_ptr<LoopbackCall> call, std::string method,
                     std::string request)
      : network_(std::move(network)),
        call_(std::move(call)),
        method_(std::move(method)),
        request_(std::move(request)) {}
  ~LoopbackServerCall() override {
    if (!is_finished_) {
      network_->Reply(call_, {RpcCode::kFailed, "there was no answer"}, {});
    }
  }

  [[nodiscard]] std::string_view method() const override { return method_; }
  [[nodiscard]] std::string_view request() const override { return request_; }
  [[nodiscard]] bool is_cancelled() const override { return call_->is_over(); }
  void Finish(const RpcStatus& status, std::vector<RpcPiece> reply) override {
    Check(!is_finished_.exchange(true), "a call has one answer");
    network_->Reply(call_, status, std::move(reply));
  }

 private:
  const std::shared_ptr<LoopbackRpc::Network> network_;
  const std::shared_ptr<LoopbackCall> call_;
  const std::string method_;
  const std::string request_;
  std::atomic<bool> is_finished_{false};
};

class LoopbackChannel final : public RpcChannel {
 public:
  LoopbackChannel(std::shared_ptr<LoopbackRpc::Network> network,
                  std::string address, std::string token,
                  std::int64_t max_reply)
      : network_(std::move(network)),
        address_(std::move(address)),
        token_(std::move(token)),
        max_reply_(max_reply) {}
  ~LoopbackChannel() override {
    std::unique_lock lock(calls_->mutex);
    const std::set<std::shared_ptr<LoopbackCall>> left = calls_->calls;
    lock.unlock();
    for (const std::shared_ptr<LoopbackCall>& call : left) {
      call->End({RpcCode::kCancelled, "the channel is closed"});
    }
    lock.lock();
    calls_->changed.wait(lock, [this] { return calls_->calls.empty(); });
  }
  LoopbackChannel(const LoopbackChannel&) = delete;
  LoopbackChannel& operator=(const LoopbackChannel&) = delete;

  void Call(std::string_view method, std::string request,
            std::chrono::milliseconds timeout, Done done) override {
    const auto call = std::make_shared<LoopbackCall>(
        calls_, address_, max_reply_, std::move(done));
    {
      const std::lock_guard lock(calls_->mutex);
      calls_->calls.insert(call);
    }
    network_->Begin(call, token_, std::string(method), std::move(request),
                    timeout);
  }

 private:
  const std::shared_ptr<LoopbackRpc::Network> network_;
  const std::string address_;
  const std::string token_;
  const std::int64_t max_reply_;
  const std::shared_ptr<LoopbackCalls> calls_ =
      std::make_shared<LoopbackCalls>();
};

class LoopbackRpcServer final : public RpcServer {
 public:
  LoopbackRpcServer(std::shared_ptr<LoopbackRpc::Network> network,
                    std::string address, LoopbackListener listener)
      : network_(std::move(network)), address_(std::move(address)) {
    port_ = network_->Add(address_, std::move(listener));
  }
  ~LoopbackRpcServer() override { network_->Remove(address_); }
  LoopbackRpcServer(const LoopbackRpcServer&) = delete;
  LoopbackRpcServer& operator=(const LoopbackRpcServer&) = delete;

  [[nodiscard]] int port() const override { return port_; }

 private:
  const std::shared_ptr<LoopbackRpc::Network> network_;
  std::string address_;
  int port_ = 0;
};

// The reply as it arrives, whose bytes `copy` keeps where they are changed.
std::vector<std::span<const std::byte>> ArrivingPieces(
    const std::vector<RpcPiece>& reply, const LoopbackFaults& faults,
    std::vector<std::byte>& copy) {
  std::vector<std::span<const std::byte>> pieces;
  for (const RpcPiece& piece : reply) {
    pieces.push_back(piece.bytes);
    copy.insert(copy.end(), piece.bytes.begin(), piece.bytes.end());
  }
  if (faults.flipped && copy.size() > kSmallReply) {
    copy[copy.size() - 1 - *faults.flipped] ^= std::byte{1};
    pieces = {copy};
  }
  if (faults.piece > 0) {
    pieces.clear();
    for (std::size_t at = 0; at < copy.size(); at += faults.piece) {
      pieces.push_back(std::span<const std::byte>(copy).subspan(
          at, std::min(faults.piece, copy.size() - at)));
    }
  }
  return pieces;
}

}  // namespace

void LoopbackRpc::Network::Begin(std::shared_ptr<LoopbackCall> call,
                                 const std::string& token, std::string method,
                                 std::string request,
                                 std::chrono::milliseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_[{call->address(), method}];
    std::vector<std::weak_ptr<LoopbackCall>>& begun = begun_[call->address()];
    std::erase_if(begun, [](const auto& one) { return one.expired(); });
    begun.push_back(call);
  }
  if (FaultsOf(call->address()).is_dead) {
    call->End({RpcCode::kUnavailable, "the worker is dead"});
    return;
  }
  threads_.At(Clock::now() + timeout, [call] {
    call->End({RpcCode::kDeadline, "the time is over"});
  });
  threads_.At(
      Clock::now(),
      [this, call = std::move(call), token, method = std::move(method),
       request = std::move(request)] { Handle(call, token, method, request); });
}

void LoopbackRpc::Network::Handle(const std::shared_ptr<LoopbackCall>& call,
                                  const std::string& token,
                                  const std::string& method,
                                  const std::string& request) {
  RpcServer::Handler handler;
  RpcStatus status;
  {
    const std::lock_guard lock(mutex_);
    const auto found = listeners_.find(call->address());
    if (found == listeners_.end()) {
      status = {RpcCode::kUnavailable, "nobody listens"};
    } else if (found->second.token != token) {
      status = {RpcCode::kRefused, "the token is wrong"};
    } else if (std::ssize(request) > found->second.max_request) {
      status = {RpcCode::kInvalid, "the request is too large"};
    } else {
      handler = found->second.handler;
      ++found->second.running;
    }
  }
  if (!handler) {
    call->End(status);
    return;
  }
  handler(std::make_shared<LoopbackServerCall>(shared_from_this(), call, method,
                                               request));
  const std::lock_guard lock(mutex_);
  --listeners_.at(call->address()).running;
  returned_.notify_all();
}

void LoopbackRpc::Network::Reply(std::shared_ptr<LoopbackCall> call,
                                 RpcStatus status,
                                 std::vector<RpcPiece> reply) {
  const LoopbackFaults faults = FaultsOf(call->address());
  threads_.At(Clock::now() + faults.delay,
              [this, call = std::move(call), status = std::move(status),
               reply = std::move(reply)] { Deliver(*call, status, reply); });
}

void LoopbackRpc::Network::Deliver(LoopbackCall& call, const RpcStatus& status,
                                   const std::vector<RpcPiece>& reply) {
  const LoopbackFaults faults = FaultsOf(call.address());
  if (faults.is_dead) {
    call.End({RpcCode::kUnavailable, "the worker is dead"});
  } else if (faults.is_silent) {
    return;  // The deadline ends it.
  } else if (!status.is_ok()) {
    call.End(status);
  } else {
    std::vector<std::byte> copy;
    const std::vector<std::span<const std::byte>> pieces =
        ArrivingPieces(reply, faults, copy);
    if (std::ssize(copy) > call.max_reply()) {
      call.End({RpcCode::kFailed, "the reply is too large"});
    } else {
      call.End(status, pieces);
    }
  }
}

int LoopbackRpc::Network::Add(std::string& address, LoopbackListener listener) {
  const std::lock_guard lock(mutex_);
  const std::size_t colon = address.rfind(':');
  int port = std::stoi(address.substr(colon + 1));
  if (port == 0) {
    port = ++last_port_;
    address = address.substr(0, colon + 1) + std::to_string(port);
  }
  if (!listeners_.emplace(address, std::move(listener)).second) {
    throw IoError(address + ": the address is in use");
  }
  return port;
}

void LoopbackRpc::Network::Remove(const std::string& address) {
  std::unique_lock lock(mutex_);
  const auto listener = listeners_.find(address);
  returned_.wait(lock, [&] { return listener->second.running == 0; });
  listeners_.erase(listener);
}

void LoopbackRpc::Network::SetFaults(const std::string& address,
                                     const LoopbackFaults& faults) {
  std::vector<std::weak_ptr<LoopbackCall>> begun;
  {
    const std::lock_guard lock(mutex_);
    faults_[address] = faults;
    if (faults.is_dead) {
      begun.swap(begun_[address]);
    }
  }
  for (const std::weak_ptr<LoopbackCall>& one : begun) {
    if (const std::shared_ptr<LoopbackCall> call = one.lock()) {
      call->End({RpcCode::kUnavailable, "the worker died"});
    }
  }
}

int LoopbackRpc::Network::calls(const std::string& address,
                                const std::string& method) const {
  const std::lock_guard lock(mutex_);
  int calls = 0;
  for (const auto& [of, count] : counts_) {
    if (of.first == address && (method.empty() || of.second == method)) {
      calls += count;
    }
  }
  return calls;
}

LoopbackRpc::LoopbackRpc(int threads)
    : network_(std::make_shared<Network>(threads)) {}

LoopbackRpc::~LoopbackRpc() = default;

std::unique_ptr<RpcChannel> LoopbackRpc::Connect(const std::string& address,
                                                 const RpcAccess& access,
                                                 std::int64_t max_reply) {
  return std::make_unique<LoopbackChannel>(network_, address, access.token,
                                           max_reply);
}

std::unique_ptr<RpcServer> LoopbackRpc::Listen(const std::string& address,
                                               const RpcAccess& access,
                                               std::int64_t max_request,
                                               RpcServer::Handler handler) {
  return std::make_unique<LoopbackRpcServer>(
      network_, address,
      LoopbackListener{.token = access.token,
                       .max_request = max_request,
                       .handler = std::move(handler)});
}

void LoopbackRpc::SetFaults(const std::string& address,
                            const LoopbackFaults& faults) {
  network_->SetFaults(address, faults);
}

int LoopbackRpc::calls(const std::string& address,
                       const std::string& method) const {
  return network_->calls(address, method);
}

}  // namespace infeed
