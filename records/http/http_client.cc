#include "records/http/http_client.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <curl/curl.h>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/http/http_transfer.h"
#include "records/http/secrets_guard.h"

namespace infeed {
namespace {

constexpr int kOk = 200;
using CurlLong = long;  // NOLINT(google-runtime-int): libcurl's.
constexpr CurlLong kMaxRedirects = 5;

struct HandleDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, HandleDeleter>;

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

void InitialiseOnce() {
  static const CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (result != CURLE_OK) {
    throw IoError(std::string("cannot set up HTTP: ") +
                  curl_easy_strerror(result));
  }
}

// libcurl's callbacks: thin wrappers around HttpTransfer.
std::size_t OnHeader(char* data, std::size_t, std::size_t size, void* user) {
  return static_cast<HttpTransfer*>(user)->TakeHeader({data, size}) ? size : 0;
}

std::size_t OnBody(char* data, std::size_t, std::size_t size, void* user) {
  return static_cast<HttpTransfer*>(user)->TakeBody({data, size}) ? size : 0;
}

std::size_t OnSend(char* data, std::size_t, std::size_t size, void* user) {
  return static_cast<HttpTransfer*>(user)->GiveBody({data, size});
}

// Called about once a second when nothing else happens.
int OnProgress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<HttpTransfer*>(user)->request().stop.stop_requested() ? 1
                                                                           : 0;
}

int OnRewind(void* user, curl_off_t offset, int origin) {
  const bool done = origin == SEEK_SET && offset >= 0 &&
                    static_cast<HttpTransfer*>(user)->Rewind(
                        static_cast<std::size_t>(offset));
  return done ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

// libcurl refuses an option only when it is built without it, or has no memory.
template <typename Value>
void Set(CURL* handle, CURLoption option, Value value) {
  const CURLcode result = curl_easy_setopt(handle, option, value);
  if (result != CURLE_OK) {
    throw IoError(std::string("cannot set up HTTP: ") +
                  curl_easy_strerror(result));
  }
}

void Append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) {
    throw IoError("cannot set up HTTP: out of memory");
  }
  (void)list.release();
  list.reset(longer);
}

HeaderList MakeHeaders(const HttpRequest& request) {
  HeaderList list;
  for (const auto& [name, value] : request.headers) {
    std::string line = name;
    line.append(": ").append(value);
    if (HasControl(line)) {
      throw UsageError("the HTTP header " + LowerCase(name) +
                       " has control characters");
    }
    // libcurl's syntax for a header without a value.
    Append(list, value.empty() ? name + ";" : line);
  }
  // Suppresses a header that libcurl would add.
  Append(list, "Expect:");
  if (!HasHeader(request.headers, "content-type")) {
    Append(list, "Content-Type:");
  }
  return list;
}

void SetMethod(CURL* handle, HttpTransfer& transfer) {
  const HttpRequest& request = transfer.request();
  const auto size = static_cast<curl_off_t>(request.body.size());
  if (request.method == "HEAD") {
    Set(handle, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT") {
    Set(handle, CURLOPT_UPLOAD, 1L);
    Set(handle, CURLOPT_INFILESIZE_LARGE, size);
  } else if (request.method == "POST") {
    Set(handle, CURLOPT_POST, 1L);
    Set(handle, CURLOPT_POSTFIELDSIZE_LARGE, size);
  } else if (request.method != "GET") {
    Set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  Set(handle, CURLOPT_READFUNCTION, &OnSend);
  Set(handle, CURLOPT_READDATA, &transfer);
  Set(handle, CURLOPT_SEEKFUNCTION, &OnRewind);
  Set(handle, CURLOPT_SEEKDATA, &transfer);
}

void SetLimits(CURL* handle, const HttpClientOptions& options,
               const HttpRequest& request) {
  Set(handle, CURLOPT_NOSIGNAL, 1L);
  Set(handle, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<CurlLong>(options.connect_timeout.count()));
  Set(handle, CURLOPT_TIMEOUT_MS,
      static_cast<CurlLong>(request.timeout.count()));
  if (!request.patient) {
    Set(handle, CURLOPT_LOW_SPEED_LIMIT,
        static_cast<CurlLong>(options.low_speed_bytes));
    Set(handle, CURLOPT_LOW_SPEED_TIME,
        static_cast<CurlLong>(options.low_speed_time.count()));
  }
  if (request.fresh_connection) {
    Set(handle, CURLOPT_FRESH_CONNECT, 1L);
    Set(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  }
}

// The hosts to contact without a proxy: those that the user names, and this
// machine, since for a proxy localhost is itself.
std::string DirectHosts() {
  constexpr std::string_view kThisMachine = "localhost,127.0.0.0/8,::1";
  std::string named = EnvironmentValue("no_proxy");
  if (named.empty()) {
    named = EnvironmentValue("NO_PROXY");
  }
  if (named == "*") {
    return named;
  }
  return named.append(named.empty() ? "" : ",").append(kThisMachine);
}

void SetSafety(CURL* handle, const HttpClientOptions& options,
               const HttpRequest& request) {
  const bool secure = request.url.starts_with("https:");
  Set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(handle, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  const bool may_redirect =
      (request.method == "GET" || request.method == "HEAD") &&
      !HasHeader(request.headers, "authorization");
  Set(handle, CURLOPT_FOLLOWLOCATION, may_redirect ? 1L : 0L);
  Set(handle, CURLOPT_MAXREDIRS, kMaxRedirects);
  Set(handle, CURLOPT_NOPROXY, DirectHosts().c_str());
  Set(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  Set(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.ca_file.empty()) {
    Set(handle, CURLOPT_CAINFO, options.ca_file.c_str());
  }
}

void SetAll(CURL* handle, const HttpClientOptions& options,
            HttpTransfer& transfer, curl_slist* headers) {
  curl_easy_reset(handle);  // Keeps the connections.
  SetLimits(handle, options, transfer.request());
  SetSafety(handle, options, transfer.request());
  SetMethod(handle, transfer);
  Set(handle, CURLOPT_URL, transfer.request().url.c_str());
  Set(handle, CURLOPT_PATH_AS_IS, 1L);  // A key may contain "..".
  // One request at a time on a connection: HTTP/2 would only add flow-control
  // windows.
  Set(handle, CURLOPT_HTTP_VERSION,
      static_cast<CurlLong>(CURL_HTTP_VERSION_1_1));
  Set(handle, CURLOPT_HTTPHEADER, headers);
  Set(handle, CURLOPT_HEADERFUNCTION, &OnHeader);
  Set(handle, CURLOPT_HEADERDATA, &transfer);
  Set(handle, CURLOPT_NOPROGRESS,
      transfer.request().stop.stop_possible() ? 0L : 1L);
  Set(handle, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  Set(handle, CURLOPT_XFERINFODATA, &transfer);
  Set(handle, CURLOPT_WRITEFUNCTION, &OnBody);
  Set(handle, CURLOPT_WRITEDATA, &transfer);
}

bool IsHttp(const std::string& url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

// Errors that another attempt will not change.
bool IsLasting(CURLcode result, const std::string& url, int status) {
  switch (result) {
    case CURLE_UNSUPPORTED_PROTOCOL:  // URL, redirect, or answer.
      return !IsHttp(url) || status != 0;
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_ABORTED_BY_CALLBACK:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

// The handles that no request is using, each with its connections.
class HttpClient::Pool {
 public:
  Handle Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Handle handle = std::move(idle_.back());
        idle_.pop_back();
        return handle;
      }
    }
    Handle handle(curl_easy_init());
    if (handle == nullptr) {
      throw IoError("cannot set up HTTP: out of memory");
    }
    return handle;
  }

  void Give(Handle handle) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(handle));
  }

 private:
  std::mutex mutex_;
  std::vector<Handle> idle_;
};

std::string CertificateFile() {
  if (std::string named = EnvironmentValue("SSL_CERT_FILE"); !named.empty()) {
    return named;
  }
  for (const char* const place : {
           "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
           "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora and its relatives
           "/etc/ssl/ca-bundle.pem",              // SUSE
           "/etc/ssl/cert.pem",                   // Alpine
       }) {
    std::error_code unreadable;
    if (std::filesystem::exists(place, unreadable)) {
      return place;
    }
  }
  return "";
}

HttpClient::HttpClient(HttpClientOptions options)
    : options_(std::move(options)) {
  InitialiseOnce();
  if (options_.ca_file.empty()) {
    options_.ca_file = CertificateFile();
  }
  pool_ = std::make_unique<Pool>();
}

HttpClient::~HttpClient() = default;

HttpResponse HttpClient::Send(const HttpRequest& request) const {
  HttpTransfer transfer(request, options_.max_header_bytes);
  const HeaderList headers = MakeHeaders(request);
  Handle handle = pool_->Take();
  SetAll(handle.get(), options_, transfer, headers.get());
  std::array<char, CURL_ERROR_SIZE> text{};
  Set(handle.get(), CURLOPT_ERRORBUFFER, text.data());
  const CURLcode result = curl_easy_perform(handle.get());
  HttpResponse response = std::move(transfer.response());
  if (result != CURLE_OK) {
    // If the server sent the whole object instead of a range, it will do so
    // again.
    const bool too_long = !transfer.refused().empty() && response.status == kOk;
    response.may_retry =
        !IsLasting(result, request.url, response.status) && !too_long;
    response.status = 0;
    response.failure = !transfer.refused().empty() ? transfer.refused()
                       : text[0] != '\0'           ? text.data()
                                                   : curl_easy_strerror(result);
    return response;  // Do not reuse its connection.
  }
  curl_easy_reset(handle.get());  // The handle has pointers to locals.
  pool_->Give(std::move(handle));
  return response;
}

}  // namespace infeed
