#include "records/files/kept_listings.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <linux/magic.h>

#include "base/error.h"
#include "base/varint.h"
#include "records/bytes/cache_folder.h"
#include "records/bytes/payload.h"
#include "records/cloud/fetch_pool.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/files/side_format.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using std::chrono::system_clock;

constexpr std::string_view kListingsMagic = "infeedLS";
// Linux allows 255 bytes, some network file systems a few times as many.
constexpr std::size_t kMaxEntryNameBytes = 1024;
// Network disks answer slowly, but many requests at once.
constexpr std::size_t kListingThreads = 16;
// The coarsest tick of a file system's clock is that of FAT.
constexpr std::chrono::seconds kCoarsestTick{2};

// Appends names, each without the bytes that it shares with the one before.
class NameWriter {
 public:
  explicit NameWriter(std::string& out) : out_(out) {}

  void Append(std::string_view name) {
    const auto end =
        std::mismatch(name.begin(), name.end(), last_.begin(), last_.end());
    const auto shared = static_cast<std::size_t>(end.first - name.begin());
    AppendVarint(shared, out_);
    AppendSizedText(out_, name.substr(shared));
    last_ = name;
  }

 private:
  std::string& out_;
  std::string_view last_;
};

// Reads names that NameWriter wrote in ascending order. Fails at any that no
// listing has.
class NameReader {
 public:
  explicit NameReader(PayloadReader& from) : from_(from) {}

  [[nodiscard]] const std::string& Next() {
    const std::uint64_t shared = from_.Number();
    const std::string_view rest = from_.Text();
    if (shared > last_.size() || shared + rest.size() > kMaxEntryNameBytes ||
        rest.find_first_of(kNotInNames) != std::string_view::npos ||
        last_.compare(shared, std::string::npos, rest) >= 0) {
      from_.Fail();
      return last_;
    }
    last_.replace(shared, std::string::npos, rest);
    return last_;
  }

 private:
  static constexpr std::string_view kNotInNames{"/\0", 2};

  PayloadReader& from_;
  std::string last_;
};

// Bytes of an entry: two numbers and its name.
constexpr std::size_t kMinEntryBytes = 3;

// Whether a file counts as an image, as ListFolder() decides it.
bool IsListedAsImage(std::string_view name) {
  return !IsHiddenName(name) && HasImageExtension(name);
}

std::vector<std::string> TakeNames(PayloadReader& from) {
  std::vector<std::string> texts(from.Count(kMinEntryBytes));
  NameReader names(from);
  for (std::string& text : texts) {
    text = names.Next();
  }
  return texts;
}

std::vector<FolderEntry> TakeImages(PayloadReader& from) {
  std::vector<FolderEntry> images(from.Count(kMinEntryBytes));
  NameReader names(from);
  for (FolderEntry& image : images) {
    image.name = names.Next();
    image.bytes = from.NumberUpTo(std::numeric_limits<std::int64_t>::max());
    if (!IsListedAsImage(image.name)) {
      from.Fail();
      break;
    }
  }
  return images;
}

// nullopt when the text is not a listing, or one of another version of this
// program that knew other images.
std::optional<FolderListing> ParseListing(std::string_view text) {
  PayloadReader from(text);
  FolderListing listing;
  listing.folders = TakeNames(from);
  listing.images = TakeImages(from);
  listing.ignored = TakeNames(from);
  const bool has_images = std::any_of(listing.ignored.begin(),
                                      listing.ignored.end(), IsListedAsImage);
  if (!from.IsAtEnd() || has_images) {
    return std::nullopt;
  }
  return listing;
}

void AppendNames(std::string& out, const std::vector<std::string>& texts) {
  AppendVarint(texts.size(), out);
  NameWriter names(out);
  for (const std::string& text : texts) {
    names.Append(text);
  }
}

std::string ListingText(const FolderListing& listing) {
  std::string out;
  AppendNames(out, listing.folders);
  AppendVarint(listing.images.size(), out);
  NameWriter names(out);
  for (const FolderEntry& image : listing.images) {
    names.Append(image.name);
    AppendVarint(static_cast<std::uint64_t>(image.bytes), out);
  }
  AppendNames(out, listing.ignored);
  return out;
}

std::size_t CountEntries(const FolderListing& listing) {
  return listing.folders.size() + listing.images.size() +
         listing.ignored.size();
}

std::optional<struct stat> StatOf(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return status;
}

// Unsigned, so that a time far from 1970 wraps around.
std::uint64_t Nanoseconds(const timespec& time) {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * kPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

FolderStamp StampOf(const struct stat& status) {
  return {status.st_dev, status.st_ino,
          static_cast<std::uint64_t>(status.st_size),
          Nanoseconds(status.st_mtim), Nanoseconds(status.st_ctim)};
}

// Whether a change from now on must give the folder another time.
bool IsSettled(const struct stat& status, system_clock::time_point now) {
  using std::chrono::nanoseconds;
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  const nanoseconds latest = now.time_since_epoch() - kCoarsestTick;
  const auto is_settled = [&](const timespec& time) {
    return std::pair(time.tv_sec, time.tv_nsec) <=
           std::pair(latest.count() / kPerSecond, latest.count() % kPerSecond);
  };
  return is_settled(status.st_mtim) && is_settled(status.st_ctim);
}

bool IsOnFuse(const std::string& folder) {
  struct statfs status {};
  return ::statfs(folder.c_str(), &status) != 0 ||
         status.f_type == FUSE_SUPER_MAGIC;
}

// "" when there is no current folder, or the path is empty.
std::string AbsoluteFolder(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::absolute(folder, error);
  if (error) {
    return "";
  }
  std::string text = path.lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

// Requires: an absolute root, or "". Returns "" where nothing can be kept.
std::string ListingsPath(const std::string& root) {
  if (root.empty() || UserCacheFolder().empty()) {
    return "";
  }
  return SideFolders(root).back() + "/listings.kept";
}

void RemoveListings(const std::string& path) {
  if (!MayWriteSideFiles()) {
    return;
  }
  std::error_code ignored;  // There may be none.
  fs::remove(path, ignored);
}

}  // namespace

// The result for one folder.
struct KeptListings::Found {
  std::optional<std::string> key;  // none: below another root
  FolderListing listing;
  bool is_kept = false;       // the listing is a kept one
  std::optional<Kept> fresh;  // to be kept from now on
};

KeptListings::KeptListings(const std::string& root, KeptListingsOptions options)
    : options_(std::move(options)),
      root_(IsUrl(root) ? "" : AbsoluteFolder(root)),
      path_(ListingsPath(root_)) {
  if (path_.empty()) {
    return;
  }
  const std::optional<SideFile> file = ReadSideFile(path_, kListingsMagic);
  if (!file || !ReadFolders(file->payload)) {
    kept_.clear();  // All folders are listed anew.
  }
}

// Returns whether the payload is a whole one of this root.
bool KeptListings::ReadFolders(std::string_view payload) {
  PayloadReader from(payload);
  if (from.Text() != root_) {
    return false;
  }
  for (std::uint64_t left = from.Number(); left > 0 && from.is_good(); --left) {
    std::string key(from.Text());
    Kept& kept = kept_[std::move(key)];
    for (std::uint64_t& number : kept.stamp) {
      number = from.Number();
    }
    kept.listing = from.Text();
  }
  return from.IsAtEnd();
}

FolderListing KeptListings::List(const std::string& folder) {
  return std::move(ListFolders({folder}).front());
}

std::vector<FolderListing> KeptListings::ListFolders(
    const std::vector<std::string>& paths) {
  if (paths.empty() || IsUrl(paths.front())) {
    return infeed::ListFolders(paths);
  }
  std::vector<Found> found(paths.size());
  const system_clock::time_point now = options_.clock();
  try {
    FetchPool pool(
        static_cast<int>(std::min(paths.size(), kListingThreads) - 1));
    pool.ForEach(paths.size(),
                 [&](std::size_t i) { found[i] = Find(paths[i], now); });
  } catch (const IoError& error) {
    if (error.errno_value() == ENOENT || error.errno_value() == ENOTDIR) {
      // A kept listing may have named the folder: a link whose target is gone.
      RemoveListings(path_);
    }
    throw;
  }
  std::vector<FolderListing> listings;
  listings.reserve(found.size());
  for (Found& one : found) {
    Take(one);
    listings.push_back(std::move(one.listing));
  }
  return listings;
}

// Called by several threads at once. listed_at: a time before the call.
KeptListings::Found KeptListings::Find(
    const std::string& folder, system_clock::time_point listed_at) const {
  Found found;
  found.key = KeyFor(folder);
  const std::optional<struct stat> status = StatOf(folder);
  const auto kept = found.key ? kept_.find(*found.key) : kept_.end();
  if (kept != kept_.end() && status && kept->second.stamp == StampOf(*status)) {
    if (std::optional<FolderListing> listing =
            ParseListing(kept->second.listing)) {
      found.listing = std::move(*listing);
      found.is_kept = true;
      return found;
    }
  }
  found.listing = ListFolder(folder);
  if (!found.key || !status || !IsSettled(*status, listed_at) ||
      IsOnFuse(folder)) {
    return found;
  }
  // A change during the listing may be in it or not.
  const FolderStamp stamp = StampOf(*status);
  const std::optional<struct stat> after = StatOf(folder);
  if (after && StampOf(*after) == stamp) {
    found.fresh.emplace();
    found.fresh->stamp = stamp;
    found.fresh->listing = ListingText(found.listing);
  }
  return found;
}

void KeptListings::Take(Found& found) {
  if (!found.key) {
    return;
  }
  if (!found.is_kept) {
    const std::size_t replaced = kept_.erase(*found.key);
    changed_folders_ += replaced;
    has_changed_ |= replaced > 0 || found.fresh.has_value();
    if (!found.fresh) {
      return;
    }
    kept_[*found.key] = std::move(*found.fresh);
  }
  Kept& kept = kept_[*found.key];
  kept.is_listed = true;
  kept.entries = CountEntries(found.listing);
}

void KeptListings::Save() {
  if (path_.empty() || !has_changed_ || !MayWriteSideFiles()) {
    return;
  }
  has_changed_ = false;
  std::size_t entries = 0;
  for (const auto& [key, kept] : kept_) {
    entries += kept.entries;
  }
  if (entries < options_.min_entries) {
    RemoveListings(path_);
    return;
  }
  try {
    WriteSideFile(path_, kListingsMagic, {}, MakePayload());
  } catch (const IoError&) {
    // The next run lists the folders anew.
  }
}

void KeptListings::Forget(const std::string& root) {
  if (!IsUrl(root)) {
    RemoveListings(ListingsPath(AbsoluteFolder(root)));
  }
}

// nullopt for a folder that is not below the root.
std::optional<std::string> KeptListings::KeyFor(
    const std::string& folder) const {
  if (path_.empty() || IsUrl(folder)) {
    return std::nullopt;
  }
  const std::string path = AbsoluteFolder(folder);
  if (path == root_) {
    return "";
  }
  const std::string start = root_.ends_with('/') ? root_ : root_ + "/";
  if (!path.starts_with(start)) {
    return std::nullopt;
  }
  return path.substr(start.size());
}

std::string KeptListings::MakePayload() const {
  std::string text;
  AppendSizedText(text, root_);
  AppendVarint(static_cast<std::uint64_t>(std::count_if(
                   kept_.begin(), kept_.end(),
                   [](const auto& entry) { return entry.second.is_listed; })),
               text);
  for (const auto& [key, kept] : kept_) {
    if (kept.is_listed) {
      AppendSizedText(text, key);
      for (const std::uint64_t number : kept.stamp) {
        AppendVarint(number, text);
      }
      AppendSizedText(text, kept.listing);
    }
  }
  return text;
}

}  // namespace infeed
