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

bool is_prepared_include(std::string_view line) {
  constexpr std::string_view own = "#include \"kernelpro/candidate.h\"";
  std::size_t behind = std::string_view::npos;
  if (line.starts_with(own)) {
    behind = own.size();
  } else if (line.starts_with("#include <")) {
    const std::size_t close = line.find('>');
    behind = close == std::string_view::npos ? close : close + 1;
  }
  return behind != std::string_view::npos &&
         line.find_first_not_of(" \t\r", behind) == std::string_view::npos;
}

struct Leading {
  std::string lines;
  std::size_t end = 0;  // of the last of them
};

Leading leading(const std::string& source) {
  Leading found;
  for (std::size_t at = skip_blanks(source, 0); at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = source.substr(at, end - at);
    if (!is_prepared_include(line)) {
      break;
    }
    found.lines += line + "\n";
    found.end = end;
    at = skip_blanks(source, end);
  }
  return found;
}

// clang prints the prepared form, so it needs no folder to write to. It looks at the lines' file
// again whenever the form is read, and refuses it when that has changed.
Status prepare(const fs::path& into, const std::string& lines, const ParseSettings& settings,
               const std::stop_token& stop) {
  fs::path file = into;
  file.replace_extension(".hpp");
  KP_TRY(write_readable(file, lines));
  KP_LET(const Finished finished,
         call_clang(
             into.parent_path(),
             {"-I.", "-x", "c++-header", "-fpch-instantiate-templates", file.string(), "-o", "-"},
             settings, stop));
  if (!finished.succeeded()) {
    return make_error(ErrorKind::bad_input, finished.errors);
  }
  return write_readable(into, finished.output);
}

}  // namespace

std::string leading_includes(const std::string& source) {
  return leading(source).lines;
}

bool includes_more(const std::string& source) {
  return source.find("include", leading(source).end) != std::string::npos;
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
    // Once: what clang has prepared it refuses when a header has been written anew since.
    if (!folder || !put_public_header(folder->path(), settings)) {
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
