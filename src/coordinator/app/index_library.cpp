#include "coordinator/app/index_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordinator/app/code.hpp"
#include "coordinator/code/index_file.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

// Files for one question, and what is shown of each: all of a function, or the lines that count.
constexpr int most_passages = 4;
constexpr code::HitSize hit_size = {.lines = 24, .context = 60};
// Of a file that is read without saying which.
constexpr std::int64_t most_read = 200;

CodePassage passage_of(std::string file, const code::Lines& lines, std::string text) {
  return {
      .file = std::move(file), .first = lines.first, .last = lines.last, .text = std::move(text)};
}

// Each question opens the index anew: threads share nothing, and an index that is brought up to
// date meanwhile is seen.
class IndexLibrary : public CodeLibrary {
 public:
  explicit IndexLibrary(fs::path store) : store_(std::move(store)) {}

  [[nodiscard]] Result<std::vector<CodePassage>> search(
      const std::string& question) const override {
    KP_LET(store::Database index, code::open_index(store_, StoreMode::read));
    KP_LET(std::vector<code::Hit> hits,
           code::search_words(index, question, most_passages, hit_size));
    std::vector<CodePassage> passages;
    passages.reserve(hits.size());
    for (code::Hit& hit : hits) {
      passages.push_back(passage_of(std::move(hit.file), hit.lines, std::move(hit.text)));
    }
    return passages;
  }

  [[nodiscard]] Result<std::vector<CodePassage>> symbol(const std::string& name) const override {
    KP_LET(store::Database index, code::open_index(store_, StoreMode::read));
    KP_LET(const std::vector<code::SymbolHit> hits, code::find_symbols(index, name, most_passages));
    std::vector<CodePassage> passages;
    for (const code::SymbolHit& hit : hits) {
      const code::Lines lines = {
          .first = hit.symbol.line,
          .last = std::min(hit.symbol.last, hit.symbol.line + hit_size.context)};
      KP_LET(const code::IndexedText whole, code::read_text(index, hit.file));
      passages.push_back(passage_of(hit.file, lines, code::cut_lines(whole.text, lines)));
    }
    return passages;
  }

  [[nodiscard]] Result<CodePassage> read(const std::string& place) const override {
    KP_LET(CodeText text, read_code(store_, place));
    const code::Lines lines = {.first = text.lines.first,
                               .last = std::min(text.lines.last, text.lines.first + most_read)};
    const code::Lines cut = {.first = 1, .last = lines.last - lines.first + 1};
    return passage_of(std::move(text.file), lines, code::cut_lines(text.text, cut));
  }

  [[nodiscard]] Result<std::string> contents() const override {
    KP_LET(store::Database index, code::open_index(store_, StoreMode::read));
    KP_LET(const std::vector<code::IndexedFolder> folders, code::indexed_folders(index));
    std::string text;
    for (const code::IndexedFolder& folder : folders) {
      text += fmt::format("{}{} ({} files)", text.empty() ? "" : ", ", folder.label, folder.files);
    }
    return text;
  }

 private:
  fs::path store_;
};

}  // namespace

std::shared_ptr<const CodeLibrary> find_code_library(const fs::path& store,
                                                     const LlmSettings& settings) {
  return settings.code != CodeUse::none && code::has_index(store)
             ? std::make_shared<IndexLibrary>(store)
             : nullptr;
}

}  // namespace kernelpro
