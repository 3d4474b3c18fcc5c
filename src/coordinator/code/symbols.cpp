#include "coordinator/code/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro::code {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t ctags_timeout_ms = 600'000;

// One line of JSON. Names are others' bytes: a line that is no JSON is passed over.
void take_line(std::string_view line, SymbolsOfFiles& found) {
  const nlohmann::json tag = nlohmann::json::parse(line, nullptr, false);
  if (!tag.is_object() || tag.value("_type", "") != "tag") {
    return;
  }
  Symbol symbol{.name = tag.value("name", ""),
                .kind = tag.value("kind", ""),
                .scope = tag.value("scope", ""),
                .line = tag.value("line", std::int64_t{0}),
                .last = 0};
  symbol.last = std::max(symbol.line, tag.value("end", symbol.line));
  // What has no name of its own gets one from ctags.
  if (symbol.line > 0 && !symbol.name.empty() && !symbol.name.starts_with("__anon")) {
    found[tag.value("path", "")].push_back(std::move(symbol));
  }
}

SymbolsOfFiles read_tags(const std::string& text) {
  SymbolsOfFiles found;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    take_line(rest.substr(0, end), found);
    rest.remove_prefix(end + 1);
  }
  return found;
}

// The list of files has one a line.
std::string list_of(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) {
    if (file.find('\n') == std::string::npos) {
      list += file + "\n";
    }
  }
  return list;
}

// No options from files: a folder could bring its own.
Command ctags_command(const std::string& ctags, const fs::path& folder, const fs::path& list,
                      const fs::path& tags) {
  Command command;
  command.arguments = {ctags,
                       "--options=NONE",
                       "--output-format=json",
                       "--sort=no",
                       "--fields=NFnKse",
                       "--langmap=C++:+.cu.cuh.inc.ipp.tpp.ixx.cppm",
                       "--kinds-C++=cdfgstu",
                       "--kinds-Python=cfm",
                       "-L",
                       list.string(),
                       "-f",
                       tags.string()};
  command.directory = folder.string();
  command.timeout_ms = ctags_timeout_ms;
  return command;
}

bool is_universal(const std::string& program) {
  Command command;
  command.arguments = {program, "--options=NONE", "--list-features"};
  const Result<Finished> answer = run_command(command);
  return answer && answer->succeeded() && answer->output.find("json") != std::string::npos;
}

}  // namespace

std::optional<std::string> find_ctags() {
  for (const char* name : {"ctags-universal", "universal-ctags", "ctags"}) {
    const std::optional<std::string> program = find_program(name);
    if (program && is_universal(*program)) {
      return program;
    }
  }
  return std::nullopt;
}

Result<SymbolsOfFiles> read_symbols(const std::string& ctags, const fs::path& folder,
                                    const std::vector<std::string>& files, std::stop_token stop) {
  KP_LET(const ScratchDir scratch, ScratchDir::create("ctags"));
  const fs::path list = scratch.path() / "files";
  const fs::path tags = scratch.path() / "tags";
  KP_TRY(write_file_unsynced(list, list_of(files)));
  KP_LET(const Finished finished,
         run_command(ctags_command(ctags, folder, list, tags), std::move(stop)));
  if (!finished.succeeded()) {
    return make_error(ErrorKind::environment,
                      fmt::format("{} failed ({}): {}", ctags,
                                  finished.timed_out ? "it took over ten minutes"
                                                     : fmt::format("exit {}", finished.exit_code),
                                  finished.errors.substr(0, 300)));
  }
  KP_LET(const std::string text, read_file(tags));
  return read_tags(text);
}

}  // namespace kernelpro::code
