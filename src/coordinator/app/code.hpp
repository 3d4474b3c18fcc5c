// Code of others and of the user, indexed and searched.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/app/progress.hpp"
#include "coordinator/code/index.hpp"
#include "coordinator/code/search.hpp"

namespace kernelpro {

struct CodeIndexRequest {
  std::filesystem::path store;
  std::vector<std::filesystem::path> folders;  // none, and no winners: all that are indexed
  bool winners = false;                        // the best candidate of each run of the store
  std::vector<std::string> forget;             // labels or folders
};

// An indexed folder and what came of it now.
struct CodeFolder {
  std::string label;
  std::filesystem::path folder;  // the store's, for winners
  code::FolderUpdate update;
  std::string problem;  // why it could not be looked at: what was known of it stays
};

struct CodeIndexed {
  std::vector<CodeFolder> folders;
  std::vector<std::string> forgotten;  // labels
  bool with_symbols = true;
};

// A folder that is named and cannot be read ends all before anything is changed.
[[nodiscard]] Result<CodeIndexed> index_code(const CodeIndexRequest& request,
                                             const Watcher& watcher, std::stop_token stop);
[[nodiscard]] nlohmann::json to_json(const CodeIndexed& indexed);

[[nodiscard]] Result<std::vector<code::Hit>> search_code(const std::filesystem::path& store,
                                                         const std::string& question, int limit);
[[nodiscard]] nlohmann::json to_json(const std::vector<code::Hit>& hits);

[[nodiscard]] Result<std::vector<code::SymbolHit>> find_code_symbols(
    const std::filesystem::path& store, const std::string& name, int limit);
[[nodiscard]] nlohmann::json to_json(const std::vector<code::SymbolHit>& hits);

// Lines of an indexed file.
struct CodeText {
  std::string file;
  code::Lines lines;
  std::string text;
};
// `place`: FILE, FILE:LINE or FILE:FIRST-LAST.
[[nodiscard]] Result<CodeText> read_code(const std::filesystem::path& store,
                                         const std::string& place);
[[nodiscard]] nlohmann::json to_json(const CodeText& text);

}  // namespace kernelpro
