#include "worker/toolchain/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using std::string_view;

constexpr std::size_t longest_text = 16'384;

// How a line names the file: between `before` and `after`. Some messages say "not found" for every
// failure; there a file that exists was refused, and one that does not is an honest mistake.
struct Form {
  string_view before;
  string_view after;
  bool must_exist;
};

constexpr auto forms = std::to_array<Form>({
    {"fatal error: cannot open file '", "': Permission denied", false},  // clang
    {"fatal error: ", ": Permission denied", false},                     // g++
    {"can't open ", " for reading: Permission denied", false},           // gas .include
    {"Error: file not found: ", "", true},                               // gas .incbin
    {"Could not find incbin file '", "'", true},                         // clang .incbin
    {"Could not find include file '", "'", true},                        // clang .include
    {"fatal error: '", "' file not found", true},                        // clang #embed
});

std::optional<fs::path> named_file(string_view line, const Form& form) {
  const std::size_t start = line.find(form.before);
  if (start == string_view::npos || !line.ends_with(form.after)) {
    return std::nullopt;
  }
  line.remove_prefix(start + form.before.size());
  if (line.size() <= form.after.size()) {
    return std::nullopt;
  }
  line.remove_suffix(form.after.size());
  return fs::path(line);
}

bool lies_outside(const fs::path& file, const fs::path& root) {
  return std::ranges::mismatch(root, file).in1 != root.end();
}

bool line_shows_private_file(string_view line, const fs::path& source_folder,
                             const fs::path& root) {
  return std::ranges::any_of(forms, [&](const Form& form) {
    const std::optional<fs::path> named = named_file(line, form);
    if (!named) {
      return false;
    }
    const fs::path file = (source_folder / *named).lexically_normal();
    std::error_code failure;
    return lies_outside(file, root) && (!form.must_exist || fs::exists(file, failure));
  });
}

}  // namespace

bool shows_private_file(const std::string& diagnostics, const fs::path& source_folder,
                        const fs::path& root) {
  std::istringstream lines(diagnostics);
  for (std::string line; std::getline(lines, line);) {
    if (line_shows_private_file(line, source_folder, root)) {
      return true;
    }
  }
  return false;
}

std::string remark_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (line.find("not vectorized") != std::string_view::npos ||
        line.find("remark: ") != std::string_view::npos) {
      out += line;
    }
  }
  return out;
}

std::string cap_text(std::string text) {
  if (text.size() <= longest_text) {
    return text;
  }
  const std::size_t end_of_line = text.rfind('\n', longest_text);
  const std::size_t kept = end_of_line == std::string::npos ? longest_text : end_of_line + 1;
  const std::size_t dropped = text.size() - kept;
  text.resize(kept);
  return text + "[" + std::to_string(dropped) + " more bytes of compiler output]\n";
}

}  // namespace kernelpro
