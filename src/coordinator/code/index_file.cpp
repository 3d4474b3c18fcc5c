#include "coordinator/code/index_file.hpp"

#include <system_error>

#include "coordinator/store/side_file.hpp"

namespace kernelpro::code {

namespace {

namespace fs = std::filesystem;

// The words of a file stand in three tables, by where they are: a short name must not count less
// because its file is long. They keep no text: that is in `files`, packed. `vocabulary` has each
// word once.
constexpr const char* index_tables = R"sql(
CREATE TABLE folders (
  id INTEGER PRIMARY KEY,
  label TEXT NOT NULL UNIQUE,
  place TEXT NOT NULL UNIQUE
);
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  folder INTEGER NOT NULL REFERENCES folders (id),
  path TEXT NOT NULL,
  place TEXT NOT NULL,
  size INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  hash TEXT NOT NULL,
  kind INTEGER NOT NULL,
  with_symbols INTEGER NOT NULL,
  text BLOB NOT NULL,
  UNIQUE (folder, path)
);
CREATE TABLE symbols (
  file INTEGER NOT NULL REFERENCES files (id),
  name TEXT NOT NULL COLLATE NOCASE,
  kind TEXT NOT NULL,
  scope TEXT NOT NULL,
  line INTEGER NOT NULL,
  last INTEGER NOT NULL
);
CREATE INDEX symbols_by_name ON symbols (name);
CREATE INDEX symbols_by_file ON symbols (file);
CREATE VIRTUAL TABLE path_words USING fts5(words, content='', tokenize='ascii');
CREATE VIRTUAL TABLE symbol_words USING fts5(words, content='', tokenize='ascii');
CREATE VIRTUAL TABLE body_words USING fts5(words, content='', tokenize='ascii');
CREATE VIRTUAL TABLE path_terms USING fts5vocab(path_words, row);
CREATE VIRTUAL TABLE body_terms USING fts5vocab(body_words, row);
CREATE VIRTUAL TABLE vocabulary USING fts5(word, tokenize='trigram');
)sql";

// What an index holds can be read again from where it came. Its version also changes whenever texts
// are split into other words: what was indexed would not be found.
constexpr store::SideFile index_kind = {
    .use = {.name = "an index of code",
            .damaged = "remove it, and run `kernelpro code index DIR...` for your folders again"},
    .application_id = 0x4B506369,  // "KPci"
    .version = 1,
    .tables = index_tables,
    .absent = "no code is indexed yet: `kernelpro code index DIR...` reads folders with sources"};

}  // namespace

fs::path index_file(const fs::path& store) {
  return store / "code.sqlite";
}

bool has_index(const fs::path& store) {
  std::error_code error;
  return fs::exists(index_file(store), error);
}

Result<store::Database> open_index(const fs::path& store, StoreMode mode) {
  return store::open_side_file(index_file(store), mode, index_kind);
}

}  // namespace kernelpro::code
