#include "tools/convert/notices.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "tools/convert/image_encoder.h"
#include "tools/images/unreadable_format.h"

namespace infeed {
namespace {

Notice NoticeOf(const LeftOut& left_out) {
  Notice notice = {.what = "",
                   .count = left_out.count,
                   .example = left_out.example,
                   .hint = ""};
  switch (left_out.kind) {
    case LeftOut::Kind::kUnreadable:
      notice.what = left_out.format + " files left out";
      notice.hint = UnreadableReason(left_out.format);
      return notice;
    case LeftOut::Kind::kOtherFiles:
      notice.what = "files left out that are not images by their names";
      notice.hint = "a --manifest takes files of any name";
      return notice;
    case LeftOut::Kind::kFolders:
      notice.what = "folders left out inside of class folders";
      notice.hint = "images must lie in their class's folder itself";
      return notice;
  }
  std::abort();
}

// Adds a notice of the notes for which `is_meant` holds, if there are any.
template <typename Predicate>
void AddNotice(std::vector<Notice>& notices,
               const std::vector<ImageNote>& notes, Predicate is_meant,
               std::string what, std::string hint) {
  Notice notice = {.what = std::move(what),
                   .count = 0,
                   .example = "",
                   .hint = std::move(hint)};
  for (const ImageNote& note : notes) {
    if (is_meant(note) && ++notice.count == 1) {
      notice.example = note.path;
    }
  }
  if (notice.count > 0) {
    notices.push_back(std::move(notice));
  }
}

}  // namespace

std::vector<Notice> NoticesOf(const std::vector<LeftOut>& list) {
  std::vector<Notice> notices;
  for (const LeftOut& left_out : list) {
    notices.push_back(NoticeOf(left_out));
  }
  return notices;
}

std::vector<Notice> NoticesOf(const ConversionReport& report) {
  std::vector<LeftOut> left_out = report.left_out;
  for (const ImageNote& note : report.skipped) {
    const std::string_view format = FormatOfReason(note.reason);
    if (!format.empty()) {
      AddLeftOut(left_out, {.kind = LeftOut::Kind::kUnreadable,
                            .format = std::string(format),
                            .count = 1,
                            .example = note.path});
    }
  }
  std::vector<Notice> notices = NoticesOf(left_out);
  AddNotice(
      notices, report.reencoded,
      [](const ImageNote& note) { return note.reason == kLossyPng; },
      "PNG images that became lossy JPEGs",
      "--keep_png stores them as they are");
  AddNotice(
      notices, report.not_turned, [](const ImageNote&) { return true; },
      "images stored without the turn that their EXIF data asks for",
      "--exif_rotate turns them");
  return notices;
}

std::string NoticesText(const std::vector<Notice>& notices) {
  std::string text;
  for (const Notice& notice : notices) {
    text += fmt::format("{}: {}, such as {}; {}\n", notice.what, notice.count,
                        notice.example, notice.hint);
  }
  return text;
}

}  // namespace infeed
