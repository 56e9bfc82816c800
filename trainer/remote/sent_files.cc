#include "trainer/remote/sent_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "records/bytes/json.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// The record's entries for steps; files in the record are never hidden.
constexpr const char* kNewestStep = ".newest_step";
constexpr const char* kNewCourse = ".new_course";
constexpr std::int64_t kMaxRecordBytes = std::int64_t{64} << 20;

// Whether a file is permanent: not a checkpoint's, and not being written.
bool IsFileToSend(const std::string& name) {
  return !name.starts_with('.') && name.find(".tmp-") == std::string::npos &&
         !CheckpointStep(name);
}

void AddFilesOf(const fs::path& folder, const std::string& prefix,
                std::vector<std::string>& names) {
  for (const std::string& name : NamesInFolder(folder.string())) {
    if (!IsFileToSend(name)) {
      continue;
    }
    std::error_code ignored;
    if (fs::is_directory(folder / name, ignored)) {
      AddFilesOf(folder / name, prefix + name + "/", names);
    } else {
      names.push_back(prefix + name);
    }
  }
}

}  // namespace

SentFiles::SentFiles(std::string model_dir, std::string record)
    : model_dir_(std::move(model_dir)), record_(std::move(record)) {
  if (!fs::exists(record_)) {
    return;
  }
  const Json json =
      ParseJsonOrDiscard<Json>(ReadWholeFile(record_, kMaxRecordBytes));
  if (!json.is_object()) {
    return;
  }
  for (const auto& [name, state] : json.items()) {
    if (state.is_array() && state.size() == 2 && state[0].is_number() &&
        state[1].is_number()) {
      sent_[name] = {.size = state[0], .time = state[1]};
    }
  }
}

std::vector<std::string> SentFiles::Changed() const {
  std::vector<std::string> names;
  AddFilesOf(model_dir_, "", names);
  std::erase_if(names, [this](const std::string& name) {
    const auto known = sent_.find(name);
    return known != sent_.end() && known->second == ReadState(name);
  });
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> SentFiles::Gone() const {
  std::vector<std::string> names;
  for (const auto& [name, state] : sent_) {
    std::error_code error;
    const bool exists = fs::exists(fs::path(model_dir_) / name, error);
    if (!name.starts_with('.') && !exists && !error) {
      names.push_back(name);
    }
  }
  return names;
}

SentFiles::State SentFiles::ReadState(const std::string& name) const {
  const fs::path path = fs::path(model_dir_) / name;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  const fs::file_time_type time = fs::last_write_time(path, error);
  if (error) {
    return {.size = -1, .time = 0};
  }
  return {.size = static_cast<std::int64_t>(size),
          .time = static_cast<std::int64_t>(time.time_since_epoch().count())};
}

std::int64_t SentFiles::newest_step() const {
  const auto known = sent_.find(kNewestStep);
  return known == sent_.end() ? -1 : known->second.size;
}

void SentFiles::NoteNewestStep(std::int64_t step) {
  Note(kNewestStep, {.size = step, .time = 0});
}

std::optional<std::int64_t> SentFiles::new_course() const {
  const auto known = sent_.find(kNewCourse);
  return known == sent_.end() ? std::nullopt
                              : std::optional(known->second.size);
}

void SentFiles::NoteNewCourse(std::optional<std::int64_t> step) {
  if (step) {
    Note(kNewCourse, {.size = *step, .time = 0});
  } else if (new_course()) {
    Forget(kNewCourse);
  }
}

void SentFiles::Write() const {
  Json json = Json::object();
  for (const auto& [key, state] : sent_) {
    json[key] = {state.size, state.time};
  }
  WriteFileAtomically(record_, json.dump() + "\n");
}

}  // namespace infeed
