#include "coordinator/code/search.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "coordinator/code/question.hpp"
#include "coordinator/code/ranking.hpp"
#include "coordinator/code/words.hpp"
#include "coordinator/store/deflate.hpp"

namespace kernelpro::code {

namespace {

using store::Database;
using store::Rows;

// A word in the name of a file or of what it defines says more than one somewhere in its text.
struct WordTable {
  std::string_view query;
  double weight;
};
constexpr std::array<WordTable, 3> word_tables = {{
    {"SELECT rowid, -bm25(path_words) FROM path_words WHERE words MATCH ?1", 3},
    {"SELECT rowid, -bm25(symbol_words) FROM symbol_words WHERE words MATCH ?1", 2},
    {"SELECT rowid, -bm25(body_words) FROM body_words WHERE words MATCH ?1", 1},
}};
// So many longer words may stand for one that no file has.
constexpr std::string_view longer_words_query =
    "SELECT word FROM vocabulary WHERE vocabulary MATCH ?1 ORDER BY length(word), word LIMIT 8";

// Words are letters and digits alone, so nothing in them means anything to FTS5.
std::string quoted(const std::string& word) {
  return "\"" + word + "\"";
}

using Scores = std::unordered_map<std::int64_t, double>;

Status add_scores(Database& index, const WordTable& table, const std::string& form,
                  Scores& scores) {
  const std::string expression = quoted(form);
  KP_LET(Rows rows, index.select(table.query, {std::string_view(expression)}));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return {};
    }
    scores[rows.integer(0)] += table.weight * rows.number(1);
  }
}

// Of several forms in a file the best counts.
Result<WordMatches> match(Database& index, const AskedWord& word) {
  WordMatches found{.extra = word.extra, .scores = {}};
  for (const std::string& form : word.forms) {
    Scores scores;
    for (const WordTable& table : word_tables) {
      KP_TRY(add_scores(index, table, form, scores));
    }
    for (const auto& [file, score] : scores) {
      double& best = found.scores[file];
      best = std::max(best, score);
    }
  }
  return found;
}

// By trigrams: words that have this one within. It must have three letters.
Result<std::vector<std::string>> longer_words(Database& index, const std::string& word) {
  std::vector<std::string> longer;
  const std::string expression = quoted(word);
  KP_LET(Rows rows, index.select(longer_words_query, {std::string_view(expression)}));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return longer;
    }
    longer.push_back(rows.text(0));
  }
}

// A plan has hundreds of words, and most of them are in every file.
constexpr std::size_t most_asked = 24;

Status keep_rarest(Database& index, std::vector<AskedWord>& words) {
  if (words.size() <= most_asked) {
    return {};
  }
  std::vector<std::pair<std::int64_t, std::size_t>> counts;
  for (std::size_t at = 0; at < words.size(); ++at) {
    KP_LET(const std::int64_t files,
           index.select_integer("SELECT ifnull(max(doc), 0) FROM body_terms WHERE term = ?1",
                                {std::string_view(words[at].forms.front())}));
    if (files > 0) {
      counts.emplace_back(files, at);
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.resize(std::min(counts.size(), most_asked));
  std::vector<AskedWord> kept;
  kept.reserve(counts.size());
  for (const auto& [files, at] : counts) {
    kept.push_back(std::move(words[at]));
  }
  words = std::move(kept);
  return {};
}

struct Asked {
  std::vector<AskedWord> words;
  std::vector<WordMatches> matches;  // of each
};

Result<Asked> ask(Database& index, const std::string& question) {
  Asked asked{.words = asked_words(question), .matches = {}};
  KP_TRY(keep_rarest(index, asked.words));
  for (AskedWord& word : asked.words) {
    KP_LET(WordMatches found, match(index, word));
    if (found.scores.empty()) {
      KP_LET(word.forms, longer_words(index, word.forms.front()));
      if (!word.forms.empty()) {
        KP_LET(found, match(index, word));
      }
    }
    asked.matches.push_back(std::move(found));
  }
  return asked;
}

Result<std::unordered_map<std::int64_t, FileKind>> kinds_of_files(Database& index) {
  std::unordered_map<std::int64_t, FileKind> kinds;
  KP_LET(Rows rows, index.select("SELECT id, kind FROM files"));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return kinds;
    }
    kinds[rows.integer(0)] = static_cast<FileKind>(rows.small_integer(1));
  }
}

Result<IndexedText> text_of(Database& index, std::int64_t file) {
  KP_LET(Rows rows, index.select("SELECT label || '/' || path, text FROM files "
                                 "JOIN folders ON folders.id = folder WHERE files.id = ?1",
                                 {file}));
  KP_LET(const bool there, rows.next());
  if (!there) {
    return make_error(ErrorKind::internal, fmt::format("file {} is not in the index", file));
  }
  KP_LET(std::string text, store::unpack_text(rows.text(1), ""));
  return IndexedText{.file = rows.text(0), .text = std::move(text)};
}

std::vector<WeighedWord> weighed(const Asked& asked, std::size_t files) {
  std::vector<WeighedWord> words;
  words.reserve(asked.words.size());
  for (std::size_t at = 0; at < asked.words.size(); ++at) {
    words.push_back(
        {.forms = asked.words[at].forms, .weight = rarity(asked.matches[at].scores.size(), files)});
  }
  return words;
}

// All of the largest definition around `lines` that fits into `most` of them; else `lines`.
Result<Lines> widened(Database& index, std::int64_t file, Lines lines, std::int64_t most) {
  KP_LET(Rows rows,
         index.select("SELECT line, last FROM symbols WHERE file = ?1 AND line <= ?2 AND "
                      "last >= ?3 AND last - line < ?4 ORDER BY last - line DESC LIMIT 1",
                      {file, lines.first, lines.last, most}));
  KP_LET(const bool found, rows.next());
  return found ? Lines{.first = rows.integer(0), .last = rows.integer(1)} : lines;
}

constexpr std::string_view symbol_columns =
    "SELECT file, name, symbols.kind, scope, line, last, files.kind FROM symbols "
    "JOIN files ON files.id = file WHERE ";

struct FoundSymbol {
  std::int64_t file = 0;
  SymbolHit hit;
};

Result<std::vector<FoundSymbol>> select_symbols(Database& index, const std::string& sql,
                                                std::string_view name, std::string_view scope,
                                                int limit) {
  std::vector<FoundSymbol> found;
  KP_LET(Rows rows, index.select(sql, {name, scope, std::int64_t{limit}}));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return found;
    }
    found.push_back({.file = rows.integer(0),
                     .hit = {.file = {},
                             .kind = static_cast<FileKind>(rows.small_integer(6)),
                             .symbol = {.name = rows.text(1),
                                        .kind = rows.text(2),
                                        .scope = rows.text(3),
                                        .line = rows.integer(4),
                                        .last = rows.integer(5)},
                             .text = {}}});
  }
}

Result<std::vector<FoundSymbol>> matching_symbols(Database& index, const std::string& name,
                                                  const std::string& scope, int limit) {
  // A scope may be given by its end alone.
  const std::string called = fmt::format(
      "{} name = ?1 AND (?2 = '' OR scope = ?2 OR substr(scope, -length(?2) - 2) = '::' || ?2) "
      "ORDER BY name COLLATE BINARY = ?1 DESC, files.kind = {}, files.path, line LIMIT ?3",
      symbol_columns, static_cast<int>(FileKind::test));
  KP_LET(std::vector<FoundSymbol> found, select_symbols(index, called, name, scope, limit));
  if (!found.empty() || name.empty()) {
    return found;
  }
  const std::string within = fmt::format(
      "{} instr(lower(name), lower(?1)) > 0 AND (?2 = '' OR instr(scope, ?2) > 0) "
      "ORDER BY files.kind = {}, length(name), files.path, line LIMIT ?3",
      symbol_columns, static_cast<int>(FileKind::test));
  return select_symbols(index, within, name, scope, limit);
}

Result<std::vector<std::pair<std::int64_t, std::string>>> files_that_end(Database& index,
                                                                         const std::string& name) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  KP_LET(Rows rows, index.select("SELECT files.id, label || '/' || path AS name FROM files JOIN "
                                 "folders ON folders.id = folder WHERE "
                                 "'/' || name LIKE '%/' || ?1 AND "
                                 "substr('/' || name, -length(?1) - 1) = '/' || ?1 ORDER BY name",
                                 {std::string_view(name)}));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return found;
    }
    found.emplace_back(rows.integer(0), rows.text(1));
  }
}

}  // namespace

Result<std::vector<Hit>> search_words(Database& index, const std::string& question, int limit,
                                      HitSize size) {
  KP_LET(const Asked asked, ask(index, question));
  KP_LET(const auto kinds, kinds_of_files(index));
  std::vector<RankedFile> ranked = rank_files(asked.matches, kinds);
  ranked.resize(std::min(ranked.size(), static_cast<std::size_t>(limit)));
  const std::vector<WeighedWord> words = weighed(asked, kinds.size());
  std::vector<Hit> hits;
  for (const RankedFile& file : ranked) {
    KP_LET(IndexedText whole, text_of(index, file.file));
    KP_LET(const Lines lines,
           widened(index, file.file, best_lines(whole.text, words, size.lines), size.context));
    hits.push_back({.file = std::move(whole.file),
                    .kind = kinds.at(file.file),
                    .score = file.score,
                    .lines = lines,
                    .text = cut_lines(whole.text, lines)});
  }
  return hits;
}

Result<std::vector<SymbolHit>> find_symbols(Database& index, const std::string& name, int limit) {
  const std::size_t colons = name.rfind("::");
  const bool scoped = colons != std::string::npos;
  KP_LET(const std::vector<FoundSymbol> found,
         matching_symbols(index, scoped ? name.substr(colons + 2) : name,
                          scoped ? name.substr(0, colons) : "", limit));
  std::vector<SymbolHit> hits;
  for (const FoundSymbol& symbol : found) {
    KP_LET(const IndexedText whole, text_of(index, symbol.file));
    hits.push_back(symbol.hit);
    hits.back().file = whole.file;
    const std::int64_t line = symbol.hit.symbol.line;
    hits.back().text = cut_lines(whole.text, {.first = line, .last = line});
  }
  return hits;
}

Result<IndexedText> read_text(Database& index, const std::string& name) {
  KP_LET(const auto found, files_that_end(index, name));
  for (const auto& [file, whole] : found) {
    if (found.size() == 1 || whole == name) {
      return text_of(index, file);
    }
  }
  if (found.empty()) {
    return make_error(
        ErrorKind::bad_input,
        "is not in the index: `kernelpro code search` shows how files are named in it", name);
  }
  return make_error(
      ErrorKind::bad_input,
      fmt::format("{} files end like this: {}, {}{}. Give more of the name", found.size(),
                  found[0].second, found[1].second, found.size() > 2 ? " …" : ""),
      name);
}

}  // namespace kernelpro::code
