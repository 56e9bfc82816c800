#include "tests/support/object_server.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/support/argument_vector.h"

extern char** environ;

namespace infeed {
namespace {

using Json = nlohmann::json;

std::string Key(std::string_view kind, std::string_view access,
                std::string_view secret, std::string_view session = "") {
  return "--key=" + std::string(kind) + ":" + std::string(access) + ":" +
         std::string(secret) + (session.empty() ? "" : ":") +
         std::string(session);
}

std::vector<std::string> CommandLine(const std::vector<std::string>& flags) {
  std::vector<std::string> words = {
      INFEED_PYTHON,
      INFEED_TEST_SUPPORT "/object_server.py",
      Key("s3", kS3AccessKey, kS3SecretKey),
      Key("s3", kSessionKey, kSessionSecret, kSessionToken),
      Key("gs", kGsAccessKey, kGsSecretKey),
      "--bearer=" + std::string(kBearerToken),
      "--bearer=read:" + std::string(kReadToken)};
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

// Starts a program with two pipes; returns its id.
pid_t Start(std::vector<std::string> words, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ArgumentVector argv(std::move(words));
  pid_t process = -1;
  Check(::posix_spawn(&process, argv.argv()[0], &actions, nullptr, argv.argv(),
                      environ) == 0,
        "the object server can be started");
  posix_spawn_file_actions_destroy(&actions);
  return process;
}

int ReadPort(int descriptor) {
  constexpr std::string_view kGreeting = "listening on ";
  std::string line;
  char c = 0;
  while (::read(descriptor, &c, 1) == 1 && c != '\n') {
    line.push_back(c);
  }
  Check(line.starts_with(kGreeting), "the object server says its port");
  return std::stoi(line.substr(kGreeting.size()));
}

int Connect(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Check(descriptor >= 0 &&
            ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address),
                      sizeof(address)) == 0,
        "the object server can be reached");
  return descriptor;
}

void SendAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    Check(sent > 0, "the object server takes what it is sent");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// The control paths' answers have a length and are well-formed.
std::string ReceiveAll(int descriptor) {
  std::string answer;
  std::array<char, 65536> buffer{};
  std::size_t wanted = std::string::npos;
  while (answer.size() < wanted) {
    const ssize_t got = ::recv(descriptor, buffer.data(), buffer.size(), 0);
    Check(got > 0, "the object server answers");
    answer.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t end = answer.find("\r\n\r\n");
    if (wanted == std::string::npos && end != std::string::npos) {
      const std::size_t length = answer.find("Content-Length: ");
      wanted = end + 4;
      if (length < end) {
        wanted += std::stoul(answer.substr(length + 16));
      }
    }
  }
  return answer;
}

std::string Text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

LoggedRequest Logged(const Json& entry) {
  return {
      .method = Text(entry["method"]),
      .path = Text(entry["path"]),
      .query = Text(entry["query"]),
      .range = Text(entry["range"]),
      .proof = Text(entry["proof"]),
      .fault = Text(entry["fault"]),
      .status = entry["status"].is_number() ? entry["status"].get<int>() : 0,
      .connection = entry["connection"].get<int>()};
}

}  // namespace

int RequestLog::Count(std::string_view method) const {
  return static_cast<int>(std::count_if(requests.begin(), requests.end(),
                                        [method](const LoggedRequest& request) {
                                          return request.method == method;
                                        }));
}

ObjectServer::ObjectServer(const std::vector<std::string>& flags) {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  Check(::pipe2(input.data(), O_CLOEXEC) == 0 &&
            ::pipe2(output.data(), O_CLOEXEC) == 0,
        "pipes can be made");
  process_ = Start(CommandLine(flags), input[0], output[1]);
  ::close(input[0]);
  ::close(output[1]);
  stdin_ = input[1];
  port_ = ReadPort(output[0]);
  ::close(output[0]);
}

ObjectServer::~ObjectServer() {
  ::close(stdin_);  // The server ends when its input does.
  int status = 0;
  ::waitpid(process_, &status, 0);
}

std::string ObjectServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void ObjectServer::SetFaults(const std::string& rules, int seed) const {
  std::string answer;
  const std::string plan =
      "{\"seed\": " + std::to_string(seed) + ", \"rules\": [" + rules + "]}";
  const bool taken = Ask("POST", "/__faults", plan, &answer) == 204;
  Check(taken, answer.c_str());
}

RequestLog ObjectServer::log() const {
  std::string answer;
  Ask("GET", "/__log", "", &answer);
  const Json json = Json::parse(answer);
  RequestLog log;
  for (const Json& entry : json["requests"]) {
    log.requests.push_back(Logged(entry));
  }
  log.peak_requests = json["peak_requests"].get<int>();
  return log;
}

void ObjectServer::ClearLog() const {
  std::string ignored;
  Ask("POST", "/__log", "", &ignored);
}

void ObjectServer::Put(const std::string& place, std::string_view bytes) const {
  std::string answer;
  Check(Ask("PUT", "/__objects/" + place, bytes, &answer) == 204,
        "an object can be put");
}

std::string ObjectServer::Get(const std::string& place) const {
  std::string answer;
  Check(Ask("GET", "/__objects/" + place, "", &answer) == 200,
        "the object is there");
  return answer;
}

bool ObjectServer::Has(const std::string& place) const {
  std::string ignored;
  return Ask("GET", "/__objects/" + place, "", &ignored) == 200;
}

std::vector<std::string> ObjectServer::Keys(const std::string& bucket) const {
  std::string answer;
  Ask("GET", "/__objects/" + bucket, "", &answer);
  return Json::parse(answer).get<std::vector<std::string>>();
}

std::vector<std::string> ObjectServer::OpenUploads() const {
  std::string answer;
  Ask("GET", "/__uploads", "", &answer);
  return Json::parse(answer).get<std::vector<std::string>>();
}

int ObjectServer::Ask(const std::string& method, const std::string& path,
                      std::string_view body, std::string* answer) const {
  const int descriptor = Connect(port_);
  SendAll(descriptor, method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" +
                          "Content-Length: " + std::to_string(body.size()) +
                          "\r\n\r\n");
  SendAll(descriptor, body);
  const std::string received = ReceiveAll(descriptor);
  ::close(descriptor);
  *answer = received.substr(received.find("\r\n\r\n") + 4);
  return std::stoi(received.substr(received.find(' ') + 1, 3));
}

}  // namespace infeed
