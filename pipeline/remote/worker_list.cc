#include "pipeline/remote/worker_list.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <arpa/inet.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/fnv_hash.h"
#include "records/files/text_lines.h"

namespace infeed {

namespace {

constexpr std::string_view kNameScheme = "dns:///";
constexpr std::int64_t kMaxListBytes = 1 << 20;
constexpr int kLastPort = 65535;

// The entries of a comma list.
std::vector<std::string_view> Entries(std::string_view text) {
  std::vector<std::string_view> entries;
  while (true) {
    const std::size_t end = text.find(',');
    entries.push_back(Trim(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return entries;
    }
    text.remove_prefix(end + 1);
  }
}

bool IsPort(std::string_view text) {
  int port = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && last == end && port >= 1 && port <= kLastPort;
}

bool IsHostName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char one) {
    return std::isalnum(one) != 0 || one == '-' || one == '.' || one == '_';
  });
}

bool IsIpv6(std::string_view text) {
  const std::string address(text.substr(0, text.find('%')));  // without a zone
  in6_addr parsed{};
  return ::inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

// nullopt: it has none of the forms.
std::optional<ListedWorker> ParseWorker(std::string_view text) {
  const bool is_resolved = text.starts_with(kNameScheme);
  if (is_resolved) {
    text.remove_prefix(kNameScheme.size());
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !IsPort(text.substr(colon + 1))) {
    return std::nullopt;
  }
  std::string_view host = text.substr(0, colon);
  if (!is_resolved && host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!IsIpv6(host)) {
      return std::nullopt;
    }
  } else if (!IsHostName(host)) {
    return std::nullopt;
  }
  return ListedWorker{.host = std::string(host),
                      .port = std::string(text.substr(colon + 1)),
                      .is_resolved = is_resolved};
}

ListedWorker WorkerOf(std::string_view text) {
  std::optional<ListedWorker> worker = ParseWorker(text);
  if (!worker) {
    throw UsageError("workers: '" + ShownText(text) +
                     "' is not HOST:PORT, [IPV6]:PORT, dns:///NAME:PORT or "
                     "@FILE; local threads are another option");
  }
  return *std::move(worker);
}

// Throws UsageError for a line of another form, and IoError.
std::vector<ListedWorker> ReadList(const std::string& path) {
  std::vector<ListedWorker> workers;
  for (const std::string& line : Lines(ReadWholeFile(path, kMaxListBytes))) {
    if (!line.empty() && !line.starts_with('#')) {
      workers.push_back(WorkerOf(line));
    }
  }
  return workers;
}

std::string AddressOf(const std::string& host, const std::string& port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return is_ipv6 ? "[" + host + "]:" + port : host + ":" + port;
}

std::vector<std::string> ResolveBySystem(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0) {
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(
      found, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(),
                      nullptr, 0, NI_NUMERICHOST) == 0) {
      addresses.emplace_back(text.data());
    }
  }
  return addresses;
}

// MurmurHash3's finaliser: FNV-1a alone leaves similar texts with similar
// values.
std::uint64_t Mixed(std::uint64_t hash) {
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
  hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
  return hash ^ hash >> 33;
}

}  // namespace

void WorkerList::Add(const ListedWorker& worker,
                     std::vector<std::string>& addresses) {
  if (!worker.is_resolved) {
    addresses.push_back(AddressOf(worker.host, worker.port));
    return;
  }
  std::vector<std::string> hosts = resolve_(worker.host);
  Answer& answer = last_[worker];
  const bool is_lost = hosts.empty() && !answer.hosts.empty();
  if (is_lost != answer.is_lost) {
    notes_.push_back(
        "workers: '" + std::string(kNameScheme) +
        AddressOf(worker.host, worker.port) + "'" +
        (is_lost ? " does not resolve any more; its last addresses are used"
                 : " resolves again"));
    answer.is_lost = is_lost;
  }
  if (!is_lost) {
    answer.hosts = std::move(hosts);
  }
  for (const std::string& host : answer.hosts) {
    addresses.push_back(AddressOf(host, worker.port));
  }
}

void WorkerList::Add(File& file, std::vector<std::string>& addresses) {
  std::string problem;
  try {
    file.last = ReadList(file.path);
  } catch (const Error& error) {  // It is being written, or is gone.
    problem = error.what();
  }
  if (problem != file.problem) {
    notes_.push_back("workers: '@" + ShownText(file.path) + "'" +
                     (problem.empty()
                          ? " is read again"
                          : ": " + problem + "; its last entries are used"));
    file.problem = std::move(problem);
  }
  for (const ListedWorker& worker : file.last) {
    Add(worker, addresses);
  }
}

WorkerList::WorkerList(std::string_view text, Resolve resolve)
    : resolve_(resolve ? std::move(resolve) : ResolveBySystem) {
  for (const std::string_view entry : Entries(text)) {
    if (!entry.starts_with('@')) {
      workers_.push_back(WorkerOf(entry));
      continue;
    }
    const std::string path(entry.substr(1));
    try {
      files_.push_back({.path = path, .last = ReadList(path)});
    } catch (const Error& error) {
      throw UsageError("workers: '" + ShownText(entry) + "': " + error.what());
    }
  }
}

std::vector<std::string> WorkerList::Addresses() {
  std::vector<std::string> addresses;
  for (const ListedWorker& worker : workers_) {
    Add(worker, addresses);
  }
  for (File& file : files_) {
    Add(file, addresses);
  }
  std::ranges::sort(addresses);
  addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
  return addresses;
}

std::vector<std::string> WorkerList::TakeNotes() {
  return std::exchange(notes_, {});
}

std::vector<std::string> ChosenWorkers(std::vector<std::string> addresses,
                                       std::string_view trainer, int most) {
  if (static_cast<int>(addresses.size()) <= most) {
    return addresses;
  }
  std::vector<std::pair<std::uint64_t, std::string>> ranked;
  ranked.reserve(addresses.size());
  for (std::string& address : addresses) {
    const std::uint64_t hash = FnvHash(std::string(trainer) + '\n' + address);
    ranked.emplace_back(Mixed(hash), std::move(address));
  }
  std::ranges::sort(ranked, std::greater<>());
  addresses.clear();
  for (auto& [hash, address] :
       std::span(ranked).first(static_cast<std::size_t>(most))) {
    addresses.push_back(std::move(address));
  }
  std::ranges::sort(addresses);
  return addresses;
}

}  // namespace infeed
