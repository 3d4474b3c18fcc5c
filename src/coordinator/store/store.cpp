#include "coordinator/store/store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "coordinator/store/database_error.hpp"
#include "coordinator/store/inner.hpp"
#include "coordinator/store/llm_calls.hpp"
#include "coordinator/store/node_findings.hpp"
#include "coordinator/store/node_rows.hpp"
#include "coordinator/store/place.hpp"
#include "coordinator/store/schema.hpp"

namespace kernelpro {

namespace fs = std::filesystem;
using store::Rows;
using store::Transaction;

namespace {

Status check_place(const fs::path& directory, StoreMode mode) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("a file, expected the folder of a store: {}", store::other_folder),
        directory.string());
  }
  if (mode == StoreMode::write) {
    KP_TRY(store::make_place(directory));
    // SQLite would name what it tried last: that a log to be read is not there.
    return ::access(directory.c_str(), W_OK) == 0
               ? Status()
               : Status(store::not_writable(store::database_file(directory),
                                            std::generic_category().message(errno)));
  }
  // A file that cannot be looked at is left to SQLite, which says why.
  if (!fs::exists(store::database_file(directory), error) && !error) {
    return make_error(ErrorKind::bad_input,
                      "there is no store here: `kernelpro optimize` makes one, or name another "
                      "folder with --store or KERNELPRO_STORE",
                      directory.string());
  }
  return {};
}

Error unknown_node(const std::string& run, NodeId node) {
  return make_error(ErrorKind::bad_input, fmt::format("the run {} has no node {}", run, node));
}

}  // namespace

Result<Store> Store::open(const fs::path& directory, StoreMode mode) {
  KP_TRY(check_place(directory, mode));
  std::vector<std::string> notices;
  const std::optional<std::string_view> network = store::network_file_system_of(directory);
  if (network) {
    notices.push_back(
        fmt::format("{} is on a network file system ({}): no write-ahead log, so it is slower, and "
                    "readers wait while a run writes",
                    directory.string(), *network));
  }
  KP_LET(store::Database database,
         store::open_database(directory, mode,
                              network ? store::Journal::rollback : store::Journal::write_ahead,
                              notices));
  return Store(std::make_unique<Inner>(directory, std::move(database), std::move(notices)));
}

Store::Store(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::vector<std::string>& Store::notices() const {
  return inner_->notices;
}

const fs::path& Store::directory() const {
  return inner_->directory;
}

Status Store::add_node(const std::string& run, const Node& node, const std::string& source) {
  KP_LET(const std::int64_t key, inner_->run_key(run));
  KP_TRY(store::write_source(inner_->directory, node.source_hash, source));
  return store::insert_node(inner_->database, key, node);
}

Status Store::choose_node(const std::string& run, const Node& node) {
  const Result<std::int64_t> key = inner_->run_key(run);
  return key ? store::insert_node(inner_->database, *key, node) : Status(key.error());
}

Status Store::write_node(const std::string& run, const Node& node, const std::string& source) {
  KP_LET(const std::int64_t key, inner_->run_key(run));
  KP_TRY(store::write_source(inner_->directory, node.source_hash, source));
  KP_TRY(store::update_node(inner_->database, key, node));
  return inner_->database.changed_rows() == 0 ? unknown_node(run, node.id) : Status();
}

Status Store::finish_node(const std::string& run, const Node& node,
                          const Certificate* certificate) {
  KP_LET(Transaction transaction, Transaction::begin(inner_->database));
  KP_LET(const std::int64_t key, inner_->run_key(run));
  KP_TRY(store::update_node(inner_->database, key, node));
  if (inner_->database.changed_rows() == 0) {
    return unknown_node(run, node.id);
  }
  KP_TRY(store::keep_findings(inner_->database, key, node));
  if (certificate != nullptr) {
    KP_TRY(inner_->keep_certificate(key, node.id, *certificate));
  }
  return transaction.commit();
}

Status Store::add_closure(const std::string& run, const Closure& closure) {
  KP_LET(const std::int64_t key, inner_->run_key(run));
  return inner_->database.execute(
      "INSERT INTO closures (run, at, node, reason) VALUES (?1, ?2, ?3, ?4)",
      {key, closure.at, closure.node, closure.reason});
}

Result<std::vector<Node>> Store::load_nodes(const std::string& run) const {
  KP_LET(const std::int64_t key, inner_->run_key(run));
  Result<std::vector<Node>> nodes = store::select_nodes(inner_->database, key);
  if (nodes) {
    KP_TRY(store::add_findings(inner_->database, key, *nodes));
    KP_TRY(store::add_authorship(inner_->database, key, *nodes));
  }
  return nodes;
}

Result<Node> Store::load_node(const std::string& run, NodeId node) const {
  KP_LET(const std::int64_t key, inner_->run_key(run));
  Result<std::vector<Node>> found = store::select_node(inner_->database, key, node);
  if (found) {
    KP_TRY(store::add_findings(inner_->database, key, *found));
    KP_TRY(store::add_authorship(inner_->database, key, *found));
  }
  if (!found) {
    return found.error();
  }
  if (found->empty()) {
    return unknown_node(run, node);
  }
  return std::move(found->front());
}

Result<std::vector<Closure>> Store::load_closures(const std::string& run) const {
  KP_LET(const std::int64_t key, inner_->run_key(run));
  KP_LET(Rows rows,
         inner_->database.select(
             "SELECT node, at, reason FROM closures WHERE run = ?1 ORDER BY at, rowid", {key}));
  std::vector<Closure> closures;
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return closures;
    }
    closures.push_back({rows.integer(0), rows.integer(1), rows.text(2)});
  }
}

Result<std::string> Store::load_source(const std::string& hash) const {
  return store::read_source(inner_->directory, hash);
}

Result<std::optional<Certificate>> Store::load_certificate(const std::string& run,
                                                           NodeId node) const {
  KP_LET(const std::int64_t key, inner_->run_key(run));
  Result<std::optional<Certificate>> found = inner_->find_certificate(key, node);
  if (!found || found->has_value()) {
    return found;
  }
  const Result<Node> known = load_node(run, node);
  return known ? found : known.error();
}

Status Store::keep_llm_call(const std::string& run, const LlmCall& call) {
  const Result<std::int64_t> key = inner_->run_key(run);
  return key ? store::keep_call(inner_->database, *key, call) : Status(key.error());
}

Result<std::vector<LlmCall>> Store::load_llm_calls(const std::string& run) const {
  const Result<std::int64_t> key = inner_->run_key(run);
  return key ? store::select_calls(inner_->database, *key) : key.error();
}

}  // namespace kernelpro
