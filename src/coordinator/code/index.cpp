#include "coordinator/code/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "coordinator/code/file_kind.hpp"
#include "coordinator/code/index_row.hpp"
#include "coordinator/code/symbols.hpp"
#include "coordinator/store/deflate.hpp"

namespace kernelpro::code {

namespace {

namespace fs = std::filesystem;
using store::Database;
using store::Rows;
using store::Transaction;

struct KnownFile {
  std::int64_t id = 0;
  std::int64_t size = 0;
  std::int64_t changed = 0;
  std::string hash;
  bool with_symbols = false;
};

Result<std::map<std::string, KnownFile>> known_files(Database& index, std::int64_t folder) {
  std::map<std::string, KnownFile> known;
  KP_LET(Rows rows, index.select("SELECT path, id, size, changed, hash, with_symbols FROM files "
                                 "WHERE folder = ?1",
                                 {folder}));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return known;
    }
    known[rows.text(0)] = {.id = rows.integer(1),
                           .size = rows.integer(2),
                           .changed = rows.integer(3),
                           .hash = rows.text(4),
                           .with_symbols = rows.truth(5)};
  }
}

Result<std::vector<Symbol>> symbols_of(Database& index, std::int64_t file) {
  std::vector<Symbol> symbols;
  KP_LET(Rows rows,
         index.select("SELECT name, kind, scope, line, last FROM symbols WHERE file = ?1 "
                      "ORDER BY rowid",
                      {file}));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return symbols;
    }
    symbols.push_back({.name = rows.text(0),
                       .kind = rows.text(1),
                       .scope = rows.text(2),
                       .line = rows.integer(3),
                       .last = rows.integer(4)});
  }
}

// Takes a file out of all tables. Words are forgotten by being told what they were.
Status remove_file(Database& index, std::int64_t file) {
  std::string path;
  std::string packed;
  {
    KP_LET(Rows rows, index.select("SELECT path, text FROM files WHERE id = ?1", {file}));
    KP_LET(const bool there, rows.next());
    if (!there) {
      return {};
    }
    path = rows.text(0);
    packed = rows.text(1);
  }
  KP_LET(const std::vector<Symbol> symbols, symbols_of(index, file));
  KP_LET(const std::string text, store::unpack_text(packed, ""));
  const IndexRow row = index_row(path, symbols, text);
  KP_TRY(
      index.execute("INSERT INTO path_words (path_words, rowid, words) VALUES ('delete', ?1, ?2)",
                    {file, std::string_view(row.path)}));
  KP_TRY(index.execute(
      "INSERT INTO symbol_words (symbol_words, rowid, words) VALUES ('delete', ?1, ?2)",
      {file, std::string_view(row.symbols)}));
  KP_TRY(
      index.execute("INSERT INTO body_words (body_words, rowid, words) VALUES ('delete', ?1, ?2)",
                    {file, std::string_view(row.body)}));
  KP_TRY(index.execute("DELETE FROM symbols WHERE file = ?1", {file}));
  return index.execute("DELETE FROM files WHERE id = ?1", {file});
}

// Words that came and went since the last time.
Status update_vocabulary(Database& index) {
  KP_TRY(
      index.execute("DELETE FROM vocabulary WHERE word NOT IN "
                    "(SELECT term FROM body_terms UNION SELECT term FROM path_terms)"));
  return index.execute(
      "INSERT INTO vocabulary (word) "
      "SELECT term FROM (SELECT term FROM body_terms UNION SELECT term FROM path_terms) "
      "WHERE length(term) > 2 AND term NOT IN (SELECT word FROM vocabulary)");
}

bool is_binary(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

class Updater {
 public:
  Updater(Database& index, const IndexedFolder& folder, fs::path root,
          std::optional<std::string> ctags, std::stop_token stop)
      : index_(index),
        folder_(folder),
        root_(std::move(root)),
        ctags_(std::move(ctags)),
        stop_(std::move(stop)) {}

  Result<FolderUpdate> update(Walk walk) {
    KP_LET(known_, known_files(index_, folder_.id));
    update_.too_large = std::move(walk.too_large);
    update_.unreadable = std::move(walk.unreadable);
    KP_TRY(remove_missing(walk.files));
    std::erase_if(walk.files, [this](const FoundFile& file) { return is_unchanged(file); });
    KP_TRY(find_symbols(walk.files));
    for (const FoundFile& file : walk.files) {
      if (stop_.stop_requested()) {
        return make_error(ErrorKind::interrupted,
                          "stopped: the index is as it was before this folder");
      }
      KP_TRY(take(file));
    }
    if (update_.read + update_.removed > 0) {
      KP_TRY(update_vocabulary(index_));
    }
    KP_LET(update_.files,
           index_.select_integer("SELECT count(*) FROM files WHERE folder = ?1", {folder_.id}));
    KP_LET(update_.symbols,
           index_.select_integer("SELECT count(*) FROM symbols JOIN files ON files.id = file "
                                 "WHERE folder = ?1",
                                 {folder_.id}));
    return std::move(update_);
  }

 private:
  // What could not be looked at may still be there.
  [[nodiscard]] bool may_be_there(const std::string& path) const {
    return std::any_of(update_.unreadable.begin(), update_.unreadable.end(),
                       [&path](const std::string& place) {
                         return place == path ||
                                ((place.empty() || place.back() == '/') && path.starts_with(place));
                       });
  }

  Status remove_missing(const std::vector<FoundFile>& files) {
    std::set<std::string_view> found;
    for (const FoundFile& file : files) {
      found.insert(file.path);
    }
    for (const auto& [path, file] : known_) {
      if (!found.contains(path) && !may_be_there(path)) {
        KP_TRY(remove_file(index_, file.id));
        ++update_.removed;
      }
    }
    return {};
  }

  [[nodiscard]] bool is_unchanged(const FoundFile& file) const {
    const auto known = known_.find(file.path);
    return known != known_.end() && known->second.size == file.size &&
           known->second.changed == file.changed && (known->second.with_symbols || !ctags_);
  }

  Status find_symbols(const std::vector<FoundFile>& files) {
    if (!ctags_ || files.empty()) {
      return {};
    }
    std::vector<std::string> places;
    places.reserve(files.size());
    for (const FoundFile& file : files) {
      places.push_back(file.place);
    }
    KP_LET(symbols_, read_symbols(*ctags_, root_, places, stop_));
    return {};
  }

  Status take(const FoundFile& file) {
    const auto known = known_.find(file.path);
    const Result<std::string> text = read_file(root_ / file.place);
    if (!text) {
      update_.unreadable.push_back(file.path);
      return {};
    }
    if (is_binary(*text)) {
      update_.binary.push_back(file.path);
      return known == known_.end() ? Status() : remove_file(index_, known->second.id);
    }
    const std::string hash = sha256(*text);
    if (known != known_.end()) {
      if (known->second.hash == hash && (known->second.with_symbols || !ctags_)) {
        return index_.execute("UPDATE files SET changed = ?2 WHERE id = ?1",
                              {known->second.id, file.changed});
      }
      KP_TRY(remove_file(index_, known->second.id));
    }
    ++update_.read;
    return add(file, *text, hash);
  }

  Status add(const FoundFile& file, const std::string& text, const std::string& hash) {
    KP_LET(const std::string packed, store::pack_text(text, "", store::Packing::quick));
    KP_TRY(index_.execute(
        "INSERT INTO files (folder, path, place, size, changed, hash, kind, with_symbols, text) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        {folder_.id, std::string_view(file.path), std::string_view(file.place), file.size,
         file.changed, std::string_view(hash),
         static_cast<std::int64_t>(kind_of(folder_.label + "/" + file.path)),
         std::int64_t{ctags_ ? 1 : 0}, store::Blob{packed}}));
    KP_LET(const std::int64_t id, index_.select_integer("SELECT last_insert_rowid()"));
    const std::vector<Symbol>& symbols = symbols_[file.place];
    for (const Symbol& symbol : symbols) {
      KP_TRY(
          index_.execute("INSERT INTO symbols (file, name, kind, scope, line, last) "
                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                         {id, std::string_view(symbol.name), std::string_view(symbol.kind),
                          std::string_view(symbol.scope), symbol.line, symbol.last}));
    }
    const IndexRow row = index_row(file.path, symbols, text);
    KP_TRY(index_.execute("INSERT INTO path_words (rowid, words) VALUES (?1, ?2)",
                          {id, std::string_view(row.path)}));
    KP_TRY(index_.execute("INSERT INTO symbol_words (rowid, words) VALUES (?1, ?2)",
                          {id, std::string_view(row.symbols)}));
    return index_.execute("INSERT INTO body_words (rowid, words) VALUES (?1, ?2)",
                          {id, std::string_view(row.body)});
  }

  Database& index_;
  const IndexedFolder& folder_;
  fs::path root_;
  std::optional<std::string> ctags_;
  std::stop_token stop_;
  std::map<std::string, KnownFile> known_;
  SymbolsOfFiles symbols_;
  FolderUpdate update_;
};

}  // namespace

Result<std::vector<IndexedFolder>> indexed_folders(Database& index) {
  std::vector<IndexedFolder> folders;
  KP_LET(Rows rows, index.select("SELECT id, label, place, (SELECT count(*) FROM files "
                                 "WHERE folder = folders.id) FROM folders ORDER BY id"));
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return folders;
    }
    folders.push_back({.id = rows.integer(0),
                       .label = rows.text(1),
                       .place = rows.text(2),
                       .files = rows.integer(3)});
  }
}

Result<IndexedFolder> need_folder(Database& index, const std::string& label,
                                  const std::string& place) {
  KP_LET(Transaction transaction, Transaction::begin(index));
  KP_LET(const std::vector<IndexedFolder> folders, indexed_folders(index));
  std::set<std::string> taken;
  for (const IndexedFolder& folder : folders) {
    if (folder.place == place) {
      return folder;
    }
    taken.insert(folder.label);
  }
  std::string free = label;
  for (int number = 2; taken.contains(free); ++number) {
    free = fmt::format("{}-{}", label, number);
  }
  KP_TRY(index.execute("INSERT INTO folders (label, place) VALUES (?1, ?2)",
                       {std::string_view(free), std::string_view(place)}));
  KP_LET(const std::int64_t id, index.select_integer("SELECT last_insert_rowid()"));
  KP_TRY(transaction.commit());
  return IndexedFolder{.id = id, .label = free, .place = place, .files = 0};
}

Status forget_folder(Database& index, const IndexedFolder& folder) {
  KP_LET(Transaction transaction, Transaction::begin(index));
  KP_LET(const auto known, known_files(index, folder.id));
  for (const auto& [path, file] : known) {
    KP_TRY(remove_file(index, file.id));
  }
  KP_TRY(index.execute("DELETE FROM folders WHERE id = ?1", {folder.id}));
  KP_TRY(update_vocabulary(index));
  return transaction.commit();
}

Result<FolderUpdate> update_folder(Database& index, const IndexedFolder& folder,
                                   const fs::path& root, Walk walk,
                                   const std::optional<std::string>& ctags, std::stop_token stop) {
  KP_LET(Transaction transaction, Transaction::begin(index));
  KP_LET(FolderUpdate update,
         Updater(index, folder, root, ctags, std::move(stop)).update(std::move(walk)));
  KP_TRY(transaction.commit());
  return update;
}

}  // namespace kernelpro::code
