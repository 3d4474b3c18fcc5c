#include "coordinator/rewrite/prepared_headers.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "coordinator/rewrite/clang_call.hpp"
#include "coordinator/rewrite/scope.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_sets = 16;  // of a few megabytes each

bool is_standard_include(std::string_view line) {
  if (!line.starts_with("#include <")) {
    return false;
  }
  const std::size_t close = line.find('>');
  return close != std::string_view::npos &&
         line.find_first_not_of(" \t\r", close + 1) == std::string_view::npos;
}

// clang prints the prepared form, so it needs no folder to write to. It looks at the lines' file
// again whenever the form is read, and refuses it when that has changed.
Status prepare(const fs::path& into, const std::string& lines, const ParseSettings& settings,
               const std::stop_token& stop) {
  fs::path file = into;
  file.replace_extension(".hpp");
  KP_TRY(write_readable(file, lines));
  KP_LET(const Finished finished,
         call_clang(into.parent_path(),
                    {"-x", "c++-header", "-fpch-instantiate-templates", file.string(), "-o", "-"},
                    settings, stop));
  if (!finished.succeeded()) {
    return make_error(ErrorKind::bad_input, finished.errors);
  }
  return write_readable(into, finished.output);
}

}  // namespace

std::string leading_includes(const std::string& source) {
  std::string lines;
  for (std::size_t at = skip_blanks(source, 0); at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = source.substr(at, end - at);
    if (!is_standard_include(line)) {
      break;
    }
    lines += line + "\n";
    at = skip_blanks(source, end);
  }
  return lines;
}

fs::path PreparedHeaders::of(const std::string& source, const ParseSettings& settings,
                             const std::stop_token& stop) {
  const std::string lines = leading_includes(source);
  if (lines.empty()) {
    return {};
  }
  if (const auto found = known_.find(lines); found != known_.end()) {
    return found->second;
  }
  if (known_.size() == most_sets) {
    return {};
  }
  if (!folder_) {
    Result<ScratchDir> folder = ScratchDir::create("headers");
    if (!folder) {
      return {};
    }
    folder_ = std::move(*folder);
  }
  const fs::path into = folder_->path() / (std::to_string(known_.size()) + ".pch");
  if (!prepare(into, lines, settings, stop)) {
    return stop.stop_requested() ? fs::path() : known_[lines] = fs::path();
  }
  return known_[lines] = into;
}

}  // namespace kernelpro
