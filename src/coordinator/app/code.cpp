#include "coordinator/app/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/paths.hpp"
#include "common/model/backend.hpp"
#include "coordinator/code/index_file.hpp"
#include "coordinator/code/symbols.hpp"
#include "coordinator/code/walk.hpp"
#include "coordinator/store/place.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;
using code::IndexedFolder;
using code::Walk;
using store::Database;

// In the place of a folder: the best candidates of the store, as files RUN/NODE.cu.
constexpr const char* winners_place = "winners:";
constexpr const char* winners_label = "winners";

// What the folders of an index are seen from: where the store lies.
fs::path beside(const fs::path& store) {
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(store, error), error).parent_path();
}

Result<Walk> walk_winners(const fs::path& directory) {
  Walk walk;
  KP_LET(const Store store, Store::open(directory, StoreMode::read));
  KP_LET(const std::vector<RunSummary> runs, store.list_runs());
  for (const RunSummary& summary : runs) {
    if (summary.best <= root_node) {
      continue;
    }
    KP_LET(const Run run, store.load_run(summary.id));
    KP_LET(const Node node, store.load_node(summary.id, summary.best));
    const fs::path place = store::source_place(node.source_hash);
    std::error_code error;
    const auto size = static_cast<std::int64_t>(fs::file_size(directory / place, error));
    const std::string path = fmt::format("{}/{}{}", summary.id, node.id,
                                         traits_of(run.settings.judging.backend).extension);
    if (error) {
      walk.unreadable.push_back(path);
    } else {
      walk.files.push_back({.path = path, .place = place.string(), .size = size, .changed = 0});
    }
  }
  return walk;
}

// A folder to be brought up to date, looked at.
struct Errand {
  std::string label;
  std::string place;  // as it is kept
  fs::path root;
  Result<Walk> walk;
};

Errand winners_errand(const fs::path& store) {
  return {
      .label = winners_label, .place = winners_place, .root = store, .walk = walk_winners(store)};
}

Errand folder_errand(const fs::path& folder, const fs::path& store) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder, error);
  return {.label = root.filename().empty() ? "root" : root.filename().string(),
          .place = kept_path(root, beside(store)),
          .root = root,
          .walk = code::walk_folder(root)};
}

Result<std::vector<Errand>> named_errands(const CodeIndexRequest& request) {
  std::vector<Errand> errands;
  errands.reserve(request.folders.size() + 1);
  for (const fs::path& folder : request.folders) {
    errands.push_back(folder_errand(folder, request.store));
  }
  if (request.winners) {
    errands.push_back(winners_errand(request.store));
  }
  for (const Errand& errand : errands) {
    KP_TRY(errand.walk);
  }
  return errands;
}

Result<std::vector<Errand>> known_errands(const fs::path& store) {
  KP_LET(Database index, code::open_index(store, StoreMode::read));
  KP_LET(const std::vector<IndexedFolder> folders, code::indexed_folders(index));
  std::vector<Errand> errands;
  for (const IndexedFolder& folder : folders) {
    errands.push_back(folder.place == winners_place
                          ? winners_errand(store)
                          : folder_errand(found_path(folder.place, beside(store)), store));
    errands.back().label = folder.label;
    errands.back().place = folder.place;
  }
  return errands;
}

Result<CodeFolder> run_errand(Database& index, Errand errand,
                              const std::optional<std::string>& ctags, std::stop_token stop) {
  CodeFolder done{.label = errand.label, .folder = errand.root, .update = {}, .problem = {}};
  if (!errand.walk) {
    done.problem = errand.walk.error().text();
    return done;
  }
  KP_LET(const IndexedFolder folder, code::need_folder(index, errand.label, errand.place));
  done.label = folder.label;
  KP_LET(done.update, code::update_folder(index, folder, errand.root, *std::move(errand.walk),
                                          ctags, std::move(stop)));
  return done;
}

Result<std::vector<std::string>> forget(const CodeIndexRequest& request) {
  std::vector<std::string> forgotten;
  KP_LET(Database index, code::open_index(request.store, StoreMode::write));
  for (const std::string& name : request.forget) {
    KP_LET(const std::vector<IndexedFolder> folders, code::indexed_folders(index));
    std::error_code error;
    const std::string place = kept_path(fs::weakly_canonical(name, error), beside(request.store));
    const auto found = std::find_if(folders.begin(), folders.end(), [&](const IndexedFolder& one) {
      return one.label == name || one.place == place;
    });
    if (found == folders.end()) {
      return make_error(ErrorKind::bad_input,
                        "is not indexed; `kernelpro code index` lists what is", name);
    }
    KP_TRY(code::forget_folder(index, *found));
    forgotten.push_back(found->label);
  }
  return forgotten;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0
             ? std::optional(number)
             : std::nullopt;
}

struct Place {
  std::string file;
  code::Lines lines = {.first = 1, .last = std::numeric_limits<std::int64_t>::max()};
};

// A name may have a colon itself: what stands behind the last one counts where it is numbers.
Place split_place(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) {
    return {.file = place};
  }
  const std::string_view numbers = std::string_view(place).substr(colon + 1);
  const std::size_t dash = numbers.find('-');
  const std::optional<std::int64_t> first = whole_number(numbers.substr(0, dash));
  const std::optional<std::int64_t> last =
      dash == std::string_view::npos ? first : whole_number(numbers.substr(dash + 1));
  if (!first || !last) {
    return {.file = place};
  }
  return {.file = place.substr(0, colon), .lines = {.first = *first, .last = *last}};
}

nlohmann::json lines_json(const code::Lines& lines) {
  return {lines.first, lines.last};
}

}  // namespace

Result<CodeIndexed> index_code(const CodeIndexRequest& request, const Watcher& watcher,
                               std::stop_token stop) {
  CodeIndexed indexed;
  if (!request.forget.empty()) {
    KP_LET(indexed.forgotten, forget(request));
    if (request.folders.empty() && !request.winners) {
      return indexed;
    }
  }
  KP_LET(std::vector<Errand> errands, request.folders.empty() && !request.winners
                                          ? known_errands(request.store)
                                          : named_errands(request));
  const std::optional<std::string> ctags = code::find_ctags();
  indexed.with_symbols = ctags.has_value();
  KP_LET(Database index, code::open_index(request.store, StoreMode::write));
  for (Errand& errand : errands) {
    tell(watcher, Activity{"reading " + errand.root.string()});
    KP_LET(CodeFolder done, run_errand(index, std::move(errand), ctags, stop));
    indexed.folders.push_back(std::move(done));
  }
  return indexed;
}

Result<std::vector<code::Hit>> search_code(const fs::path& store, const std::string& question,
                                           int limit) {
  KP_LET(Database index, code::open_index(store, StoreMode::read));
  return code::search_words(index, question, limit, {});
}

Result<std::vector<code::SymbolHit>> find_code_symbols(const fs::path& store,
                                                       const std::string& name, int limit) {
  KP_LET(Database index, code::open_index(store, StoreMode::read));
  return code::find_symbols(index, name, limit);
}

Result<CodeText> read_code(const fs::path& store, const std::string& place) {
  KP_LET(Database index, code::open_index(store, StoreMode::read));
  const Place wanted = split_place(place);
  KP_LET(code::IndexedText whole, code::read_text(index, wanted.file));
  const std::int64_t count = code::count_lines(whole.text);
  if (wanted.lines.first > std::max<std::int64_t>(count, 1) ||
      wanted.lines.last < wanted.lines.first) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("has {} lines; expected FILE:FIRST-LAST within them", count),
                      place);
  }
  const code::Lines lines = {.first = wanted.lines.first,
                             .last = std::min(wanted.lines.last, count)};
  return CodeText{
      .file = std::move(whole.file), .lines = lines, .text = code::cut_lines(whole.text, lines)};
}

nlohmann::json to_json(const CodeIndexed& indexed) {
  nlohmann::json folders = nlohmann::json::array();
  for (const CodeFolder& folder : indexed.folders) {
    const code::FolderUpdate& update = folder.update;
    folders.push_back({{"label", folder.label},
                       {"folder", folder.folder.string()},
                       {"problem", folder.problem},
                       {"files", update.files},
                       {"read", update.read},
                       {"removed", update.removed},
                       {"symbols", update.symbols},
                       {"binary", update.binary},
                       {"too_large", update.too_large},
                       {"unreadable", update.unreadable}});
  }
  return {{"folders", std::move(folders)},
          {"forgotten", indexed.forgotten},
          {"with_symbols", indexed.with_symbols}};
}

nlohmann::json to_json(const std::vector<code::Hit>& hits) {
  nlohmann::json list = nlohmann::json::array();
  for (const code::Hit& hit : hits) {
    list.push_back({{"file", hit.file},
                    {"kind", code::name_of(hit.kind)},
                    {"score", hit.score},
                    {"lines", lines_json(hit.lines)},
                    {"text", hit.text}});
  }
  return {{"hits", std::move(list)}};
}

nlohmann::json to_json(const std::vector<code::SymbolHit>& hits) {
  nlohmann::json list = nlohmann::json::array();
  for (const code::SymbolHit& hit : hits) {
    list.push_back({{"file", hit.file},
                    {"name", hit.symbol.name},
                    {"kind", hit.symbol.kind},
                    {"scope", hit.symbol.scope},
                    {"lines", lines_json({hit.symbol.line, hit.symbol.last})},
                    {"text", hit.text}});
  }
  return {{"symbols", std::move(list)}};
}

nlohmann::json to_json(const CodeText& text) {
  return {{"file", text.file}, {"lines", lines_json(text.lines)}, {"text", text.text}};
}

}  // namespace kernelpro
