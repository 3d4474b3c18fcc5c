// The commands about indexed code.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/printable.hpp"
#include "coordinator/app/code.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/watched.hpp"

namespace kernelpro {

namespace {

// "skipped as binary: a.h, b.h, c.h and 4 more"; at most three are named.
void print_skipped(const char* why, const std::vector<std::string>& files) {
  constexpr std::size_t named = 3;
  if (files.empty()) {
    return;
  }
  std::string names;
  for (std::size_t at = 0; at < std::min(files.size(), named); ++at) {
    names += (at == 0 ? "" : ", ") + (files[at].empty() ? "the folder itself" : files[at]);
  }
  fmt::print("  {}: {}{}\n", why, printable(names),
             files.size() > named ? fmt::format(" and {} more", files.size() - named) : "");
}

void print_folder(const CodeFolder& folder) {
  if (!folder.problem.empty()) {
    fmt::print(
        "{}: {}\n  what was read of it before stays; `kernelpro code index --forget {}` "
        "takes it out\n",
        folder.label, printable(folder.problem), folder.label);
    return;
  }
  const code::FolderUpdate& update = folder.update;
  fmt::print("{}: {} files, {} symbols ({} read, {} removed) from {}\n", folder.label, update.files,
             update.symbols, update.read, update.removed, printable(folder.folder.string()));
  print_skipped("passed over as binary", update.binary);
  print_skipped("passed over as larger than 4 MiB", update.too_large);
  print_skipped("could not be read", update.unreadable);
}

void print_numbered(const std::string& text, const code::Lines& lines) {
  std::int64_t number = lines.first;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    fmt::print("{:6} {}\n", number++, printable_lines(text.substr(at, end - at)));
    at = end + 1;
  }
}

void print_hits(const std::vector<code::Hit>& hits) {
  for (const code::Hit& hit : hits) {
    fmt::print("{}:{}-{} ({})\n", printable(hit.file), hit.lines.first, hit.lines.last,
               code::name_of(hit.kind));
    print_numbered(hit.text, hit.lines);
  }
  if (hits.empty()) {
    fmt::print("no indexed file has any of these words\n");
  }
}

void print_symbols(const std::vector<code::SymbolHit>& hits) {
  for (const code::SymbolHit& hit : hits) {
    const code::Symbol& symbol = hit.symbol;
    fmt::print("{}:{}-{} {} {}{}{}\n", printable(hit.file), symbol.line, symbol.last, symbol.kind,
               printable(symbol.scope), symbol.scope.empty() ? "" : "::", printable(symbol.name));
    print_numbered(hit.text, {.first = symbol.line, .last = symbol.line});
  }
  if (hits.empty()) {
    fmt::print("nothing of that name is defined in indexed files\n");
  }
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

int code_index_command(const Options& options, std::stop_token stop) {
  CodeIndexRequest request = options.code_index;
  request.store = options.node.store;
  const Result<CodeIndexed> indexed =
      watched(options, [&](const Watcher& watcher) { return index_code(request, watcher, stop); });
  if (indexed && !indexed->with_symbols) {
    fmt::print(stderr, "kernelpro: {}\n", code::no_ctags);
  }
  return print_result(options, indexed, [](const CodeIndexed& all) {
    for (const std::string& label : all.forgotten) {
      fmt::print("{}: forgotten\n", label);
    }
    for (const CodeFolder& folder : all.folders) {
      print_folder(folder);
    }
  });
}

int code_search_command(const Options& options, std::stop_token /*stop*/) {
  const Result<std::vector<code::Hit>> hits =
      search_code(options.node.store, joined(options.words), options.code_limit);
  if (!hits) {
    return report_error(options, hits.error());
  }
  if (options.json) {
    print_json(to_json(*hits));
  } else {
    print_hits(*hits);
  }
  return exit_done;
}

int code_symbol_command(const Options& options, std::stop_token /*stop*/) {
  const Result<std::vector<code::SymbolHit>> hits =
      find_code_symbols(options.node.store, options.code_name, options.code_limit);
  if (!hits) {
    return report_error(options, hits.error());
  }
  if (options.json) {
    print_json(to_json(*hits));
  } else {
    print_symbols(*hits);
  }
  return exit_done;
}

int code_read_command(const Options& options, std::stop_token /*stop*/) {
  const Result<CodeText> text = read_code(options.node.store, options.code_name);
  return print_result(options, text, [](const CodeText& part) {
    fmt::print("{}\n", printable(part.file));
    print_numbered(part.text, part.lines);
  });
}

}  // namespace kernelpro
