#include "coordinator/store/node_rows.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kernelpro::store {

namespace {

using nlohmann::json;

constexpr const char* insert_sql =
    "INSERT INTO nodes (run, id, parent, move, site, plan, predicted_gain, reasons, source_hash, "
    "compiler, options, state, born, ended, same_as, candidate_key, binary_hash, outcome, rule, "
    "summary, precision, suspect, verified, screened, speedup, speedup_low, speedup_high, "
    "bottleneck, share_of_bound, diagnosis, build_ns, judge_ns, at_least, final_phase, confirmed, "
    "likely) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
    "?18, ?19, "
    "?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36)";

constexpr const char* update_sql =
    "UPDATE nodes SET parent = ?3, move = ?4, site = ?5, plan = ?6, predicted_gain = ?7, "
    "reasons = ?8, source_hash = ?9, compiler = ?10, options = ?11, state = ?12, born = ?13, "
    "ended = ?14, same_as = ?15, candidate_key = ?16, binary_hash = ?17, outcome = ?18, "
    "rule = ?19, summary = ?20, precision = ?21, suspect = ?22, verified = ?23, screened = ?24, "
    "speedup = ?25, speedup_low = ?26, speedup_high = ?27, bottleneck = ?28, "
    "share_of_bound = ?29, diagnosis = ?30, build_ns = ?31, judge_ns = ?32, at_least = ?33, "
    "final_phase = ?34, confirmed = ?35, likely = ?36 "
    "WHERE run = ?1 AND id = ?2";

// The columns that came later stand last; {} is `likely`, or its default where a file has none.
constexpr const char* select_format =
    "SELECT id, parent, move, site, plan, predicted_gain, reasons, source_hash, compiler, options, "
    "state, born, ended, same_as, candidate_key, binary_hash, outcome, rule, summary, precision, "
    "suspect, verified, screened, speedup, speedup_low, speedup_high, bottleneck, share_of_bound, "
    "diagnosis, build_ns, judge_ns, at_least, final_phase, confirmed, {} "
    "FROM nodes WHERE run = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id";

// Of files that older programs made and that may only be read: see add_new_columns.
constexpr const char* old_select_sql =
    "SELECT nodes.id, parent, move, site, plan, predicted_gain, reasons, source_hash, compiler, "
    "options, nodes.state, born, ended, same_as, candidate_key, binary_hash, outcome, rule, "
    "summary, precision, suspect, verified, screened, speedup, speedup_low, speedup_high, "
    "bottleneck, share_of_bound, diagnosis, build_ns, judge_ns, 0, 0, "
    "nodes.id > 0 AND nodes.id = best AND runs.state = 'finished', 0 "
    "FROM nodes JOIN runs ON runs.key = nodes.run "
    "WHERE run = ?1 AND nodes.id BETWEEN ?2 AND ?3 ORDER BY nodes.id";

// A SHA-256 in hexadecimal as its 32 bytes; anything else as the text it is.
class HashColumn {
 public:
  explicit HashColumn(const std::string& text) : text_(text) {
    if (text.size() == 64 && text.find_first_not_of(digits_) == std::string::npos) {
      for (std::size_t i = 0; i < text.size(); i += 2) {
        bytes_ += static_cast<char>(digits_.find(text[i]) * 16 + digits_.find(text[i + 1]));
      }
    }
  }

  [[nodiscard]] Value value() const {
    return bytes_.empty() ? Value(std::string_view(text_)) : Value(Blob{bytes_});
  }

  [[nodiscard]] static std::string read(const Rows& rows, int column) {
    std::string stored = rows.text(column);
    if (!rows.is_blob(column)) {
      return stored;
    }
    std::string text;
    text.reserve(stored.size() * 2);
    for (const char letter : stored) {
      const auto byte = static_cast<unsigned char>(letter);
      text += digits_[byte >> 4U];
      text += digits_[byte & 0xFU];
    }
    return text;
  }

 private:
  static constexpr std::string_view digits_ = "0123456789abcdef";
  const std::string& text_;
  std::string bytes_;
};

// A list of texts as a JSON array; none as NULL.
class ListColumn {
 public:
  explicit ListColumn(const std::vector<std::string>& list)
      : text_(list.empty() ? std::string()
                           : json(list).dump(-1, ' ', false, json::error_handler_t::replace)) {}

  [[nodiscard]] Value value() const {
    return text_.empty() ? Value(nullptr) : Value(std::string_view(text_));
  }

  [[nodiscard]] static std::optional<std::vector<std::string>> read(const Rows& rows, int column) {
    if (rows.is_null(column)) {
      return std::vector<std::string>();
    }
    json parsed = json::parse(rows.text(column), nullptr, false);
    std::vector<std::string> list;
    list.reserve(parsed.size());
    for (json& item : parsed) {
      if (!parsed.is_array() || !item.is_string()) {
        return std::nullopt;
      }
      list.push_back(std::move(item.get_ref<std::string&>()));
    }
    return list;
  }

 private:
  std::string text_;
};

Status write_node(Database& database, const char* sql, std::int64_t run, const Node& node) {
  const HashColumn source_hash(node.source_hash);
  const HashColumn candidate_key(node.candidate_key);
  const HashColumn binary_hash(node.binary_hash);
  const ListColumn reasons(node.reasons);
  const ListColumn options(node.options);
  return database.execute(sql, {run,
                                node.id,
                                node.parent,
                                node.move,
                                node.site,
                                node.plan,
                                node.predicted_gain,
                                reasons.value(),
                                source_hash.value(),
                                node.compiler,
                                options.value(),
                                name_of(node.state),
                                node.born,
                                node.ended,
                                node.same_as,
                                candidate_key.value(),
                                binary_hash.value(),
                                name_of(node.outcome),
                                node.rule,
                                node.summary,
                                node.precision,
                                node.suspect,
                                node.verified,
                                node.screened,
                                node.speedup,
                                node.speedup_interval.low,
                                node.speedup_interval.high,
                                name_of(node.diagnosis.bottleneck),
                                node.diagnosis.share_of_bound,
                                node.diagnosis.text,
                                node.build_ns,
                                node.judge_ns,
                                node.at_least,
                                node.final_phase,
                                node.confirmed,
                                node.likely});
}

// The value that `parsed` holds; otherwise its default, and `bad` says which column is damaged.
template <typename T>
T known(std::optional<T> parsed, const char* column, std::string& bad) {
  if (!parsed.has_value()) {
    bad = column;
    return T{};
  }
  return std::move(*parsed);
}

// The present row; the columns stand in the order of select_sql.
Node read_node(const Rows& rows, std::string& bad) {
  Node node;
  int column = 0;
  node.id = rows.integer(column++);
  node.parent = rows.integer(column++);
  node.move = rows.text(column++);
  node.site = rows.text(column++);
  node.plan = rows.text(column++);
  node.predicted_gain = rows.number(column++);
  node.reasons = known(ListColumn::read(rows, column++), "reasons", bad);
  node.source_hash = HashColumn::read(rows, column++);
  node.compiler = rows.text(column++);
  node.options = known(ListColumn::read(rows, column++), "options", bad);
  node.state = known(parse_node_state(rows.text(column++)), "state", bad);
  node.born = rows.integer(column++);
  node.ended = rows.integer(column++);
  node.same_as = rows.integer(column++);
  node.candidate_key = HashColumn::read(rows, column++);
  node.binary_hash = HashColumn::read(rows, column++);
  node.outcome = known(parse_outcome(rows.text(column++)), "outcome", bad);
  node.rule = rows.text(column++);
  node.summary = rows.text(column++);
  node.precision = rows.text(column++);
  node.suspect = rows.truth(column++);
  node.verified = rows.truth(column++);
  node.screened = rows.truth(column++);
  node.speedup = rows.number(column++);
  node.speedup_interval.low = rows.number(column++);
  node.speedup_interval.high = rows.number(column++);
  node.diagnosis.bottleneck = known(parse_bottleneck(rows.text(column++)), "bottleneck", bad);
  node.diagnosis.share_of_bound = rows.number(column++);
  node.diagnosis.text = rows.text(column++);
  node.build_ns = rows.integer(column++);
  node.judge_ns = rows.integer(column++);
  node.at_least = rows.truth(column++);
  node.final_phase = rows.integer(column++);
  node.confirmed = rows.truth(column++);
  node.likely = rows.number(column++);
  return node;
}

Result<std::string> select_sql(Database& database) {
  KP_LET(const bool likely, database.has_column("nodes", "likely"));
  KP_LET(const bool confirmed, database.has_column("nodes", "confirmed"));
  return confirmed ? fmt::format(select_format, likely ? "likely" : "0")
                   : std::string(old_select_sql);
}

Status select_between(Database& database, std::int64_t run, NodeId first, NodeId last,
                      std::vector<Node>& nodes) {
  KP_LET(const std::string sql, select_sql(database));
  KP_LET(Rows rows, database.select(sql, {run, first, last}));
  while (true) {
    const Result<bool> more = rows.next();
    if (!more || !*more) {
      return more ? Status() : more.error();
    }
    std::string bad;
    nodes.push_back(read_node(rows, bad));
    if (!bad.empty()) {
      return make_error(ErrorKind::io,
                        fmt::format("the column {} of node {} is damaged; put a copy of the store "
                                    "back",
                                    bad, nodes.back().id),
                        database.file().string());
    }
  }
}

}  // namespace

Status insert_node(Database& database, std::int64_t run, const Node& node) {
  return write_node(database, insert_sql, run, node);
}

Status update_node(Database& database, std::int64_t run, const Node& node) {
  return write_node(database, update_sql, run, node);
}

Result<std::vector<Node>> select_nodes(Database& database, std::int64_t run) {
  KP_LET(const std::int64_t count,
         database.select_integer("SELECT count(*) FROM nodes WHERE run = ?1", {run}));
  std::vector<Node> nodes;
  nodes.reserve(static_cast<std::size_t>(count));
  KP_TRY(select_between(database, run, std::numeric_limits<NodeId>::min(),
                        std::numeric_limits<NodeId>::max(), nodes));
  return nodes;
}

Result<std::vector<Node>> select_node(Database& database, std::int64_t run, NodeId node) {
  std::vector<Node> nodes;
  KP_TRY(select_between(database, run, node, node, nodes));
  return nodes;
}

}  // namespace kernelpro::store
