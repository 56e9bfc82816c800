#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What infeed needs of a library for remote procedure calls of one request and
// one reply. pipeline/rpc/ implements it by gRPC, in a library that is loaded
// when it is needed (rpc_plugin.h); tests have one without a network.
namespace infeed {

// Changes with any change of this file, as the plugin and what loads it may be
// of different builds.
inline constexpr int kRpcVersion = 2;

enum class RpcCode {
  kOk,
  kUnavailable,  // no connection, or it was lost; also a wrong certificate
  kDeadline,     // the time is over
  kCancelled,    // by the caller, or by its end
  kBusy,         // refused at once, to be asked again later
  kNotOpen,      // the stream is not open at the worker
  kRefused,      // the token is wrong
  kInvalid,      // the request is malformed, or too large
  kFailed,       // anything else
};

struct RpcStatus {
  RpcCode code = RpcCode::kOk;
  std::string message = {};

  [[nodiscard]] bool is_ok() const { return code == RpcCode::kOk; }
};

// A message in pieces, whose memory is another's.
using RpcPieces = std::span<const std::span<const std::byte>>;

// Files in PEM, read again when they change: all three or none.
struct TlsFiles {
  std::string cert = {};  // this side's certificate
  std::string key = {};   // the private key of it
  std::string ca = {};    // the certificate of who signed the other side's

  friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

// Who may be on the other side. Without anything: everybody, in plain text.
struct RpcAccess {
  std::string token = {};  // both sides have the same one; empty: none
  TlsFiles tls = {};

  [[nodiscard]] bool has_tls() const { return !tls.cert.empty(); }
};

// A connection to one address, made when it is needed, and again after a loss.
// Thread-safe.
class RpcChannel {
 public:
  using Done = std::function<void(const RpcStatus& status, RpcPieces reply)>;

  RpcChannel() = default;
  // Cancels all calls, and waits until each done() has returned. Requires: not
  // called by a done().
  virtual ~RpcChannel() = default;
  RpcChannel(const RpcChannel&) = delete;
  RpcChannel& operator=(const RpcChannel&) = delete;

  // Begins a call and returns. done is called once, from any thread, later or
  // before Call() returns; it may make calls, and must not throw. Its pieces
  // are valid until it returns.
  virtual void Call(std::string_view method, std::string request,
                    std::chrono::milliseconds timeout, Done done) = 0;
};

// Memory that is sent without being copied.
struct RpcPiece {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes until they are sent
};

// A call as the server sees it. Destroyed without Finish(), it fails.
// Thread-safe.
class RpcServerCall {
 public:
  RpcServerCall() = default;
  virtual ~RpcServerCall() = default;
  RpcServerCall(const RpcServerCall&) = delete;
  RpcServerCall& operator=(const RpcServerCall&) = delete;

  [[nodiscard]] virtual std::string_view method() const = 0;
  [[nodiscard]] virtual std::string_view request() const = 0;
  // Whether nobody waits for the reply any more.
  [[nodiscard]] virtual bool is_cancelled() const = 0;
  // Sends the reply: the pieces in their order, if the status is kOk. At most
  // once.
  virtual void Finish(const RpcStatus& status, std::vector<RpcPiece> reply) = 0;
};

// Serves calls until it is destroyed, which refuses new calls, and cancels
// those that have not ended within 10 seconds.
class RpcServer {
 public:
  // Called from any thread, several at once; must return soon and not throw.
  using Handler = std::function<void(std::shared_ptr<RpcServerCall> call)>;

  RpcServer() = default;
  virtual ~RpcServer() = default;
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  [[nodiscard]] virtual int port() const = 0;
};

class RpcLibrary {
 public:
  RpcLibrary() = default;
  virtual ~RpcLibrary() = default;
  RpcLibrary(const RpcLibrary&) = delete;
  RpcLibrary& operator=(const RpcLibrary&) = delete;

  // address: HOST:PORT, HOST a name or an address, [::1] for IPv6. Throws
  // UsageError for TLS files that cannot be read. max_reply: the largest reply
  // that is accepted, in bytes.
  [[nodiscard]] virtual std::unique_ptr<RpcChannel> Connect(
      const std::string& address, const RpcAccess& access,
      std::int64_t max_reply) = 0;

  // Port 0: any free one. Calls without the token are refused before their
  // request is read; larger requests than max_request are refused. Also serves
  // grpc.health.v1.Health, without a token. Throws UsageError as Connect(), and
  // IoError if the address cannot be listened at.
  [[nodiscard]] virtual std::unique_ptr<RpcServer> Listen(
      const std::string& address, const RpcAccess& access,
      std::int64_t max_request, RpcServer::Handler handler) = 0;
};

// Why the plugin made nothing.
struct RpcError {
  bool is_usage = false;  // a UsageError, else an IoError
  std::string message = {};
};

// RpcLibrary in the plugin: returns null and an error, and throws nothing. The
// plugin and what loads it may each contain a C++ runtime, and an exception of
// one is not caught by its type in the other.
class RpcPlugin {
 public:
  RpcPlugin() = default;
  virtual ~RpcPlugin() = default;
  RpcPlugin(const RpcPlugin&) = delete;
  RpcPlugin& operator=(const RpcPlugin&) = delete;

  [[nodiscard]] virtual std::unique_ptr<RpcChannel> Connect(
      const std::string& address, const RpcAccess& access,
      std::int64_t max_reply, RpcError& error) = 0;
  [[nodiscard]] virtual std::unique_ptr<RpcServer> Listen(
      const std::string& address, const RpcAccess& access,
      std::int64_t max_request, RpcServer::Handler handler,
      RpcError& error) = 0;
};

// What the plugin exports: infeed_rpc_version returns kRpcVersion,
// infeed_rpc_plugin the plugin, which is never destroyed.
using RpcVersionFunction = int();
using RpcPluginFunction = RpcPlugin*();

}  // namespace infeed
