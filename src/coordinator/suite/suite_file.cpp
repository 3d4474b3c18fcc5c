#include "coordinator/suite/suite_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "common/base/append.hpp"
#include "common/base/file.hpp"
#include "common/wire/bundle_line.hpp"
#include "common/wire/json.hpp"
#include "coordinator/suite/suite_json.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

Error no_suite(const fs::path& path, const std::string& why) {
  return make_error(ErrorKind::bad_input,
                    "it does not hold results of `kernelpro bench kernelbench` (" + why +
                        "); name another file, or move this one away",
                    path.string());
}

Error bad_line(const fs::path& path, std::size_t number, const Error& error) {
  return make_error(ErrorKind::bad_input,
                    error.text() + "; take the line out, or begin another file with --into",
                    fmt::format("{}:{}", path.string(), number));
}

// The value of one line by `read`.
template <typename Read>
auto parse_line(const std::string& line, Read read) -> decltype(read(nlohmann::json())) {
  KP_LET(const nlohmann::json json, parse_json(line));
  return read(json);
}

Result<SuiteContent> parse_content(const fs::path& path, const std::string& text) {
  const std::vector<std::string> lines = whole_lines(text);
  if (lines.empty()) {
    return no_suite(path, text.empty() ? "it is empty" : "its first line has no end");
  }
  const Result<SuiteHeader> header = parse_line(lines.front(), suite_header_from_json);
  if (!header) {
    return no_suite(path, header.error().text());
  }
  SuiteContent content{*header, {}};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    Result<SuiteRecord> record = parse_line(lines[i], suite_record_from_json);
    if (!record) {
      return bad_line(path, i + 1, record.error());
    }
    content.records.insert_or_assign(record->problem, std::move(*record));
  }
  return content;
}

std::string line_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string or_nothing(const std::string& text) {
  return text.empty() ? "nothing" : text;
}

}  // namespace

Result<SuiteContent> read_suite_file(const fs::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) {
    return make_error(ErrorKind::bad_input, text.error().message, text.error().context);
  }
  return parse_content(path, *text);
}

std::vector<std::string> header_differences(const SuiteHeader& before, const SuiteHeader& now) {
  std::vector<std::string> out;
  const auto add = [&out](const char* what, const std::string& first, const std::string& second) {
    if (first != second) {
      out.push_back(fmt::format("{}: {}, now {}", what, or_nothing(first), or_nothing(second)));
    }
  };
  add("machine", before.machine, now.machine);
  add("backend", name_of(before.backend), name_of(now.backend));
  add("PyTorch", before.torch, now.torch);
  add("conditions", before.conditions, now.conditions);
  return out;
}

Result<SuiteFile> SuiteFile::open(const fs::path& path, const SuiteHeader& header) {
  constexpr int mode = 0666;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, mode));
  if (!fd.valid()) {
    return errno_error("opening " + path.string());
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK
               ? make_error(ErrorKind::busy, "another kernelpro writes it; wait for it, or end it",
                            path.string())
               : errno_error("locking " + path.string());
  }
  KP_LET(const std::string text, read_file(path));
  SuiteFile file(path, std::move(fd));
  KP_TRY(file.take_up(text, header));
  return file;
}

Status SuiteFile::take_up(const std::string& text, const SuiteHeader& header) {
  if (text.empty()) {
    content_.header = header;
    return write_line(line_of(to_json(header)));
  }
  KP_LET(SuiteContent content, parse_content(path_, text));
  if (const std::vector<std::string> differ = header_differences(content.header, header);
      !differ.empty()) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it was measured elsewhere ({}); name another file with --into",
                                  fmt::join(differ, "; ")),
                      path_.string());
  }
  content_ = std::move(content);
  const auto whole = static_cast<off_t>(text.rfind('\n') + 1);
  return ::ftruncate(fd_.get(), whole) == 0 ? Status()
                                            : Status(errno_error("cutting " + path_.string()));
}

Status SuiteFile::append(const SuiteRecord& record) {
  KP_TRY(write_line(line_of(to_json(record))));
  content_.records.insert_or_assign(record.problem, record);
  return {};
}

Status SuiteFile::write_line(const std::string& line) {
  return append_durably(fd_.get(), line, path_);
}

}  // namespace kernelpro
