#include "worker/session/results_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/append.hpp"
#include "common/base/file.hpp"
#include "common/wire/worker_line.hpp"

namespace kernelpro {

namespace {

Error refused(const std::filesystem::path& path, const std::string& what) {
  return make_error(ErrorKind::bad_input,
                    what + "; name another file for the results, or move this one away",
                    path.string());
}

}  // namespace

Result<ResultsFile> ResultsFile::open(const std::filesystem::path& path,
                                      const BundleHeader& header) {
  constexpr int mode = 0666;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, mode));
  if (!fd.valid()) {
    return errno_error("opening " + path.string() + " for the results");
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK
               ? make_error(ErrorKind::busy,
                            "another kernelpro-worker writes these results; wait for it, or end it",
                            path.string())
               : errno_error("locking " + path.string());
  }
  KP_LET(const std::string content, read_file(path));
  ResultsFile file(path, std::move(fd));
  KP_TRY(file.take_up(content, header));
  return file;
}

Status ResultsFile::take_up(const std::string& content, const BundleHeader& header) {
  const std::vector<std::string> lines = whole_lines(content);
  if (lines.empty()) {
    return results_header_line(header).starts_with(content)
               ? begin(header)
               : Status(refused(path_, "it holds something else than results"));
  }
  const Result<BundleHeader> found = parse_results_header(lines.front());
  if (!found) {
    return refused(path_, "it holds no results that can be gone on with: " + found.error().text());
  }
  if (found->owner != header.owner || found->part > header.part) {
    return refused(path_, fmt::format("it holds the results of {}, part {}, and the bundle is of "
                                      "{}, part {}",
                                      found->owner, found->part, header.owner, header.part));
  }
  if (found->part < header.part) {
    return begin(header);
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Result<WorkerMessage> message = parse_worker_message(lines[i]);
    const auto* reply = message ? std::get_if<WorkerReply>(&*message) : nullptr;
    if (reply == nullptr) {
      return refused(path_, fmt::format("its line {} is no reply{}", i + 1,
                                        message ? "" : ": " + message.error().text()));
    }
    if (reply->result) {
      answered_.insert(reply->id);
    }
  }
  return cut(content.rfind('\n') + 1);
}

Status ResultsFile::begin(const BundleHeader& header) {
  KP_TRY(cut(0));
  return append(results_header_line(header));
}

Status ResultsFile::cut(std::size_t bytes) {
  return ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) == 0
             ? Status()
             : Status(errno_error("cutting " + path_.string()));
}

Status ResultsFile::append(const std::string& line) {
  return append_durably(fd_.get(), line, path_);
}

}  // namespace kernelpro
