#include "tools/shards/staged_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/print_lines.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSide = ".infeed";
constexpr const char* kScratch = "scratch";
constexpr const char* kDescription = "dataset.json";
constexpr const char* kJournal = "/scratch/commit";
constexpr std::int64_t kMaxJournal = 1 << 30;  // bytes

// The stage is inside the folder, so that files can be renamed; for an object
// store it is in the user's cache.
std::string StagePath(const std::string& folder) {
  return JoinPath(IsUrl(folder) ? SideFolder(folder) : JoinPath(folder, kSide),
                  "tmp");
}

// Opens a folder and locks it; the kernel unlocks it however the process ends.
int LockFolder(const std::string& folder) {
  const int descriptor =
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    throw IoError(folder, "open", errno);
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(descriptor);
    if (error == EWOULDBLOCK) {
      throw UsageError(folder +
                       ": another run writes to this folder: wait until it "
                       "ends, or give another --output");
    }
    throw IoError(folder, "lock", error);
  }
  return descriptor;
}

// The journal may come from a stranger: it is copied with a data set's folder.
void CheckIsBelow(const std::string& name, const std::string& journal) {
  const fs::path path = name;
  const bool is_side = path.parent_path() == kSide;
  if (!path.has_filename() || path.filename() == "." ||
      path.filename() == ".." || (path.has_parent_path() && !is_side)) {
    throw DataError(
        {.path = journal},
        "would remove a file that is not of this folder: remove its folder");
  }
}

void Empty(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, error)) {
    fs::remove_all(entry.path(), error);
    if (error) {
      break;
    }
  }
  if (error) {
    throw IoError(folder.string(), "remove what a killed run left",
                  error.value());
  }
}

void MoveFile(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    throw IoError(to.string(), "rename", error.value());
  }
}

// Moves the files of one folder, except dataset.json, into another by renaming.
void MoveFiles(const fs::path& from, const fs::path& to) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    if (entry.is_regular_file() && entry.path().filename() != kDescription) {
      files.push_back(entry.path());
    }
  }
  if (error) {
    throw IoError(from.string(), "read the folder", error.value());
  }
  for (const fs::path& file : files) {
    MoveFile(file, to / file.filename());
  }
  SyncDirectory(to.string());
}

// A folder with another shard in the place of this one is no conversion's.
void ForgetConversion(const fs::path& shard) {
  for (const std::string& folder : DatasetFolders(shard.string())) {
    const fs::path side = fs::path(folder) / kSide;
    RemoveFile((side / shard.filename()).concat(kFinishedShardEnding));
    RemoveFile(side / kConversionName);
  }
}

}  // namespace

StagedFolder::StagedFolder(std::string folder)
    : folder_(std::move(folder)), is_url_(IsUrl(folder_)) {
  stage_ = StagePath(folder_);
  MakeFolder(stage_, "create", is_url_ ? 1 : 2);
  lock_ = LockFolder(stage_);
  try {
    if (fs::exists(JournalPath())) {
      FinishCommit();
      PrintLine(folder_ + ": finished what a killed run had written");
    }
    Empty(stage_);
    MakeInnerFolders();
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  fs::remove_all(stage_, ignored);
  // Removes the folders only if they are empty: a failed run leaves no trace.
  fs::remove(fs::path(stage_).parent_path(), ignored);
  ::close(lock_);
}

std::string StagedFolder::PathFor(const std::string& name) const {
  return JoinPath(stage(), name);
}

std::string StagedFolder::SidePathFor(const std::string& name) const {
  return JoinPath(stage(), JoinPath(kSide, name));
}

std::string StagedFolder::ScratchPathFor(const std::string& name) const {
  return JoinPath(JoinPath(stage_, kScratch), name);
}

void StagedFolder::Commit(const std::vector<std::string>& stale) {
  if (is_url_) {
    return;
  }
  WriteJournal(stale);
  FinishCommit();
}

void StagedFolder::FinishKilled(const std::string& folder) {
  if (!IsUrl(folder) && fs::exists(StagePath(folder) + kJournal)) {
    const StagedFolder finished(folder);
  }
}

// Refuses links, through which a stranger's stage would lead elsewhere.
void StagedFolder::MakeInnerFolders() const {
  constexpr int kInStage = 3;  // .infeed/tmp/NAME
  for (const char* name : {kSide, kScratch}) {
    MakeFolder(JoinPath(stage_, name), "create", kInStage);
  }
}

std::string StagedFolder::JournalPath() const { return stage_ + kJournal; }

void StagedFolder::WriteJournal(const std::vector<std::string>& stale) const {
  std::string text;
  for (const std::string& path : stale) {
    Check(path.starts_with(JoinPath(folder_, "")), "the folder has old files");
    text += path.substr(JoinPath(folder_, "").size());
    text += '\0';
  }
  WriteFileAtomically(JournalPath(), text);
}

void StagedFolder::FinishCommit() {
  MakeInnerFolders();
  // If there is a new dataset.json, remove the old one first: it describes
  // files that are about to change.
  const fs::path description = fs::path(stage_) / kDescription;
  const bool describes = fs::exists(description);
  if (describes) {
    RemoveFile(fs::path(folder_) / kDescription);
  }
  std::istringstream stale(ReadWholeFile(JournalPath(), kMaxJournal));
  for (std::string name; std::getline(stale, name, '\0');) {
    CheckIsBelow(name, JournalPath());
    const fs::path path = fs::path(folder_) / name;
    RemoveFile(path);
    RemoveFile(path.parent_path() / kSide /
               (path.filename().string() + ".index"));
    ForgetConversion(path);
  }
  // From here on, new files may have the names of old ones.
  WriteJournal({});
  const fs::path side = fs::path(folder_) / kSide;
  MakeFolder(side.string(), "create", 1);
  MoveFiles(fs::path(stage_) / kSide, side);
  MoveFiles(stage_, folder_);
  if (describes) {
    MoveFile(description, fs::path(folder_) / kDescription);
    SyncDirectory(folder_);
  }
  // A run that is killed from here on has nothing left to finish.
  RemoveFile(JournalPath());
}

std::vector<std::string> ExistingOutputs(const std::vector<std::string>& paths,
                                         bool overwrite) {
  std::vector<std::string> existing;
  for (const std::string& path : paths) {
    if (IsThere(path)) {
      existing.push_back(path);
    }
  }
  if (!existing.empty() && !overwrite) {
    throw UsageError(
        existing.front() + ": is there already" +
        (existing.size() > 1
             ? " (and " + std::to_string(existing.size() - 1) + " more)"
             : "") +
        ": give another --output, or --overwrite to replace it");
  }
  return existing;
}

}  // namespace infeed
