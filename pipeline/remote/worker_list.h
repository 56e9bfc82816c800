#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// One worker, or one name of several.
struct ListedWorker {
  std::string host;  // without brackets
  std::string port;
  bool is_resolved = false;

  friend auto operator<=>(const ListedWorker&, const ListedWorker&) = default;
};

// The workers that an option names: a comma list of HOST:PORT, dns:///NAME:PORT
// (all addresses of the name) and @FILE (a line each, HOST:PORT or dns:///;
// empty lines and lines that begin with # are skipped). For one thread.
class WorkerList {
 public:
  // Resolves a host's name to addresses; empty: unknown now.
  using Resolve = std::function<std::vector<std::string>(const std::string&)>;

  // Throws UsageError that names the entry that has none of the forms, or the
  // file that cannot be read. resolve: for tests; null: the system's.
  explicit WorkerList(std::string_view text, Resolve resolve = nullptr);

  // The addresses now, HOST:PORT, sorted, each once; names of dns:/// are
  // resolved and files read anew, those that fail now have their last answer.
  // May take as long as the system's resolver.
  [[nodiscard]] std::vector<std::string> Addresses();

  // Lines about names that the last Addresses() could not resolve any more and
  // files that it could not read, each once until it has another reason, and
  // about those that it could again.
  [[nodiscard]] std::vector<std::string> TakeNotes();

 private:
  struct File {
    std::string path;
    std::vector<ListedWorker> last = {};  // its last good content
    std::string problem = {};             // why that is in use; "": it is new
  };

  struct Answer {
    std::vector<std::string> hosts = {};  // the last ones
    bool is_lost = false;                 // whether there are none now
  };

  // Add the addresses of a worker, or of those in a file, now.
  void Add(const ListedWorker& worker, std::vector<std::string>& addresses);
  void Add(File& file, std::vector<std::string>& addresses);

  Resolve resolve_;
  std::vector<ListedWorker> workers_;
  std::vector<File> files_;
  std::vector<std::string> notes_;       // TakeNotes()
  std::map<ListedWorker, Answer> last_;  // of names
};

// The addresses that a trainer of this name uses: all of them, or `most`, by
// rendezvous hashing, so that trainers spread evenly and a change of the list
// changes few of them.
[[nodiscard]] std::vector<std::string> ChosenWorkers(
    std::vector<std::string> addresses, std::string_view trainer, int most);

}  // namespace infeed
