#include "pipeline/rpc/channel.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <grpc/grpc.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/status.h>

#include "pipeline/rpc/access.h"
#include "pipeline/rpc/message.h"
#include "pipeline/rpc/status.h"

namespace infeed {
namespace {

// What a reply may have beside its slots.
constexpr std::int64_t kReplyRoom = 64 << 10;

// infeed resolves names itself, decides when to call again, and keeps one
// channel for each worker: gRPC's own retries, proxies, service configuration
// and shared connections are off.
void TurnOff(grpc::ChannelArguments& arguments) {
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
}

// A dead connection is noticed within 15 seconds. Attempts begin 1 to 10
// seconds apart; the "minimum" is how long one may take, for busy machines.
void SetTimes(grpc::ChannelArguments& arguments) {
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 1'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10'000);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000);
}

grpc::ChannelArguments MakeArguments(std::int64_t max_reply) {
  grpc::ChannelArguments arguments;
  TurnOff(arguments);
  SetTimes(arguments);
  // Larger chunks are given back to the kernel each time, which costs the
  // trainer a third more CPU time.
  arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, 64 << 10);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(std::min<std::int64_t>(
      max_reply + kReplyRoom, std::numeric_limits<int>::max())));
  return arguments;
}

// A URI, in which the brackets of IPv6 are not allowed.
std::string TargetOf(const std::string& address) {
  std::string target = "dns:///";
  for (const char c : address) {
    if (c == '[') {
      target += "%5B";
    } else if (c == ']') {
      target += "%5D";
    } else if (c == '%') {
      target += "%25";
    } else {
      target += c;
    }
  }
  return target;
}

}  // namespace

struct GrpcChannel::CallInWork final : QueuedCall {
  explicit CallInWork(GrpcChannel& by) : channel(by) {}

  void End() override { channel.End(std::move(self)); }

  GrpcChannel& channel;
  CallPtr self;  // until gRPC is done
  grpc::ClientContext context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer reply;
  grpc::Status status;
  Done done;
};

GrpcChannel::GrpcChannel(const std::string& address, const RpcAccess& access,
                         std::int64_t max_reply,
                         std::shared_ptr<CallQueue> queue)
    : queue_(std::move(queue)),
      token_(access.token),
      stub_(grpc::CreateCustomChannel(TargetOf(address),
                                      ToChannelCredentials(access),
                                      MakeArguments(max_reply))) {}

GrpcChannel::~GrpcChannel() {
  std::unique_lock lock(mutex_);
  is_closing_ = true;
  const std::unordered_set<CallPtr> calls = calls_;
  // Without the lock, which End() takes: gRPC may call it from here.
  lock.unlock();
  for (const CallPtr& call : calls) {
    call->context.TryCancel();
  }
  lock.lock();
  idle_.wait(lock, [this] { return running_ == 0; });
}

void GrpcChannel::Call(std::string_view method, std::string request,
                       std::chrono::milliseconds timeout, Done done) {
  const auto call = std::make_shared<CallInWork>(*this);
  call->self = call;
  call->done = std::move(done);
  call->context.set_deadline(std::chrono::system_clock::now() + timeout);
  if (!token_.empty()) {
    call->context.AddMetadata(kTokenKey, token_);
  }
  {
    const std::scoped_lock lock(mutex_);
    ++running_;
    calls_.insert(call);
    if (is_closing_) {  // The caller is a done().
      call->context.TryCancel();
    }
  }
  call->reader = stub_.PrepareUnaryCall(&call->context, std::string(method),
                                        ToMessage(request), &queue_->queue());
  call->reader->StartCall();
  call->reader->Finish(&call->reply, &call->status,
                       static_cast<QueuedCall*>(call.get()));
}

void GrpcChannel::End(CallPtr call) {
  {
    const std::scoped_lock lock(mutex_);
    calls_.erase(call);
  }
  {
    const MessagePieces reply(call->reply);
    const Done done = std::move(call->done);
    done(ToRpcStatus(call->status, call->context), reply.pieces());
  }
  call.reset();
  const std::scoped_lock lock(mutex_);
  if (--running_ == 0) {
    idle_.notify_all();
  }
}

}  // namespace infeed
