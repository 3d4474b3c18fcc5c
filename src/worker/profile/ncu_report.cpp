#include "worker/profile/ncu_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "worker/profile/ncu_messages.hpp"

namespace kernelpro {
namespace {

using std::string_view;
using Fields = std::vector<string_view>;

// 256 MiB of cells, a thousand launches of everything that ncu can measure many times over.
constexpr std::size_t most_cells = std::size_t{1} << 24;
constexpr std::size_t most_texts = std::size_t{1} << 16;
constexpr std::size_t longest_text = 4096;

template <typename T>
std::optional<T> whole_number(string_view text) {
  T value{};
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = problem == std::errc() && stop == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

// "(256, 1, 1)".
Extent extent_of(string_view text) {
  Extent extent{};
  if (!text.starts_with('(') || !text.ends_with(')')) {
    return {};
  }
  text = text.substr(1, text.size() - 2);
  for (std::size_t axis = 0; axis < extent.size(); ++axis) {
    const std::size_t comma = text.find(',');
    if ((comma == string_view::npos) != (axis == 2)) {
      return {};
    }
    const auto size = whole_number<std::int64_t>(text.substr(0, comma));
    if (!size || *size < 1) {
      return {};
    }
    extent[axis] = *size;
    text.remove_prefix(comma == string_view::npos ? text.size() : comma + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return extent;
}

// The columns about the launch itself; all others are metrics.
bool is_launch_column(string_view name) {
  constexpr std::array<string_view, 11> names = {
      "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
      "Stream", "Block Size", "Grid Size",    "Device",    "CC"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_header(const Fields& fields) {
  return fields.size() > 2 && fields[0] == "ID" &&
         std::find(fields.begin(), fields.end(), "Kernel Name") != fields.end();
}

// A table's first row, with the columns told apart.
struct Header {
  std::vector<std::string> names;
  std::vector<std::size_t> about_launch;
  std::vector<std::size_t> metrics;

  Header() = default;
  explicit Header(const Fields& fields) : names(fields.begin(), fields.end()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      (is_launch_column(names[i]) ? about_launch : metrics).push_back(i);
    }
  }
};

template <typename T>
bool take(T& into, string_view text) {
  const std::optional<T> number = whole_number<T>(text);
  into = number.value_or(into);
  return number.has_value();
}

// Nothing: this is no launch's row.
std::optional<NcuLaunch> launch_of(const Header& header, const Fields& fields) {
  NcuLaunch launch;
  bool has_id = false;
  for (const std::size_t i : header.about_launch) {
    if (i >= fields.size()) {
      break;
    }
    const std::string& name = header.names[i];
    if (name == "ID") {
      has_id = take(launch.id, fields[i]) && launch.id >= 0;
    } else if (name == "Process ID") {
      take(launch.process, fields[i]);
    } else if (name == "Process Name") {
      launch.process_name = fields[i];
    } else if (name == "Kernel Name") {
      launch.name = fields[i];
    } else if (name == "Context") {
      take(launch.context, fields[i]);
    } else if (name == "Stream") {
      take(launch.stream, fields[i]);
    } else if (name == "Block Size") {
      launch.block = extent_of(fields[i]);
    } else if (name == "Grid Size") {
      launch.grid = extent_of(fields[i]);
    } else if (name == "Device") {
      take(launch.device, fields[i]);
    } else if (name == "CC") {
      launch.capability = fields[i];
    }
  }
  return has_id ? std::optional(std::move(launch)) : std::nullopt;
}

// These metrics have no fraction, so that a separator in them groups digits.
bool is_count(string_view metric) {
  return metric.starts_with("device__attribute_") || metric.starts_with("smsp__pcsamp_") ||
         metric == "launch__grid_size" || metric == "launch__block_size" ||
         metric == "launch__thread_count";
}

// The notation of the first cell that shows one; a report that shows none is read as ncu writes
// without a locale.
Notation find_notation(string_view output) {
  NcuRows rows(output);
  Header header;
  while (rows.next()) {
    const Fields& fields = rows.fields();
    if (is_header(fields)) {
      header = Header(fields);
    } else if (fields.size() == header.names.size()) {
      for (const std::size_t i : header.metrics) {
        if (const auto notation = notation_of(fields[i], is_count(header.names[i]))) {
          return *notation;
        }
      }
    }
  }
  return Notation::point;
}

class RawReader {
 public:
  explicit RawReader(string_view output)
      : output_(output), notation_(find_notation(output)), rows_(output) {
    report_.texts.emplace_back();  // the index of cells without a text
  }

  Result<NcuRawReport> read() {
    while (!full_ && rows_.next()) {
      take_row(rows_.fields());
    }
    if (header_.names.empty()) {
      return explain_ncu_failure(output_).error;
    }
    if (rows_.broken() > 0) {
      miss("a row of ncu's table is cut off or garbled");
    }
    report_.complaints = ncu_complaints(output_);
    return std::move(report_);
  }

 private:
  void miss(string_view why) {
    report_.complete = false;
    report_.problem = report_.problem.empty() ? why : report_.problem;
  }

  void take_row(const Fields& fields) {
    if (is_header(fields)) {
      take_header(fields);
    } else if (!in_table_) {
      return;  // the program's own output, or a table that was refused
    } else if (fields.size() != header_.names.size()) {
      // A program may print quoted words as well; a launch's row begins with its number.
      if (whole_number<std::int64_t>(fields[0])) {
        miss("a row of ncu's table is cut off or garbled");
      }
    } else if (!has_units_ && fields[0].empty()) {
      take_units(fields);
    } else {
      take_launch(fields);
    }
  }

  void take_header(const Fields& fields) {
    has_units_ = false;
    if (header_.names.empty()) {
      header_ = Header(fields);
      for (const std::size_t i : header_.metrics) {
        report_.index.emplace(header_.names[i], report_.columns.size());
        report_.columns.push_back({.name = header_.names[i], .unit = {}});
      }
      scales_.assign(report_.columns.size(), 1);
    }
    in_table_ =
        std::equal(fields.begin(), fields.end(), header_.names.begin(), header_.names.end());
    if (!in_table_) {
      miss("a second table of ncu has other columns than the first");
    }
  }

  void take_units(const Fields& fields) {
    has_units_ = true;
    const bool first = report_.launches.empty();
    for (std::size_t column = 0; column < header_.metrics.size(); ++column) {
      Unit unit = base_unit(fields[header_.metrics[column]]);
      scales_[column] = unit.scale;
      if (first) {
        report_.columns[column].unit = std::move(unit.name);
      } else if (report_.columns[column].unit != unit.name) {
        in_table_ = false;
        miss("a second table of ncu has other units than the first");
      }
    }
  }

  void take_launch(const Fields& fields) {
    std::optional<NcuLaunch> launch = launch_of(header_, fields);
    if (!launch) {
      miss("a row of ncu's table does not begin with a number");
      return;
    }
    cells_ += header_.metrics.size();
    if (cells_ > most_cells) {
      full_ = true;
      miss("ncu's table is too large to be read as a whole");
      return;
    }
    launch->cells.reserve(header_.metrics.size());
    for (std::size_t column = 0; column < header_.metrics.size(); ++column) {
      launch->cells.push_back(cell_of(fields[header_.metrics[column]], scales_[column]));
    }
    report_.launches.push_back(std::move(*launch));
  }

  NcuCell cell_of(string_view field, double scale) {
    const Cell cell = read_cell(field, notation_);
    const bool worth_keeping = cell.kind == CellKind::text || cell.kind == CellKind::unreadable;
    return {.value = cell.value * scale,
            .text = worth_keeping ? text_index(field) : 0,
            .kind = cell.kind};
  }

  std::uint32_t text_index(string_view text) {
    text = text.substr(0, longest_text);
    const auto known = text_indices_.find(std::string(text));
    if (known != text_indices_.end()) {
      return known->second;
    }
    if (report_.texts.size() >= most_texts) {
      return 0;
    }
    const auto index = static_cast<std::uint32_t>(report_.texts.size());
    report_.texts.emplace_back(text);
    text_indices_.emplace(text, index);
    return index;
  }

  string_view output_;
  Notation notation_;
  NcuRows rows_;
  NcuRawReport report_;
  Header header_;
  std::vector<double> scales_;  // to base units, by column
  bool in_table_ = false;
  bool has_units_ = false;
  bool full_ = false;
  std::size_t cells_ = 0;
  std::unordered_map<std::string, std::uint32_t> text_indices_;
};

using Column = std::optional<std::size_t>;

Column column_of(const Header& header, string_view name) {
  const auto at = std::find(header.names.begin(), header.names.end(), name);
  return at == header.names.end() ? std::nullopt
                                  : Column(static_cast<std::size_t>(at - header.names.begin()));
}

struct RuleColumns {
  Column rule, type, text, speedup_type, speedup;

  explicit RuleColumns(const Header& header)
      : rule(column_of(header, "Rule Name")),
        type(column_of(header, "Rule Type")),
        text(column_of(header, "Rule Description")),
        speedup_type(column_of(header, "Estimated Speedup Type")),
        speedup(column_of(header, "Estimated Speedup")) {}
};

string_view field_at(const Fields& fields, Column column) {
  return column && *column < fields.size() ? fields[*column] : string_view();
}

std::optional<RuleNote> note_of(const RuleColumns& columns, const Fields& fields) {
  RuleNote note;
  note.rule = field_at(fields, columns.rule);
  note.type = field_at(fields, columns.type);
  note.text = field_at(fields, columns.text);
  if (note.rule.empty() || note.text.empty()) {
    return std::nullopt;
  }
  const Cell speedup = read_cell(field_at(fields, columns.speedup), Notation::point);
  if (field_at(fields, columns.speedup_type) == "global" && speedup.kind == CellKind::number) {
    note.speedup_percent = speedup.value;
  }
  return note;
}

}  // namespace

NcuValue NcuRawReport::value(const NcuLaunch& launch, string_view metric) const {
  const auto column = index.find(metric);
  if (column == index.end() || column->second >= launch.cells.size()) {
    return {.number = {}, .text = {}, .unit = {}, .why = "it is not in ncu's table"};
  }
  const NcuCell& cell = launch.cells[column->second];
  NcuValue value{
      .number = {}, .text = texts[cell.text], .unit = columns[column->second].unit, .why = {}};
  if (cell.kind == CellKind::number) {
    value.number = cell.value;
  } else {
    value.why = why_not(cell.kind);
    value.why += value.text.empty() ? "" : ": \"" + value.text + "\"";
  }
  return value;
}

Result<NcuRawReport> read_ncu_raw(string_view output) {
  return RawReader(output).read();
}

Result<NcuRules> read_ncu_rules(string_view output) {
  NcuRules rules;
  NcuRows rows(output);
  Header header;
  std::optional<RuleColumns> columns;
  while (rows.next()) {
    const Fields& fields = rows.fields();
    if (is_header(fields)) {
      header = Header(fields);
      columns.emplace(header);
      continue;
    }
    // Rows end where their last value stands.
    if (!columns || fields.size() > header.names.size()) {
      continue;
    }
    const std::optional<NcuLaunch> launch = launch_of(header, fields);
    std::optional<RuleNote> note = note_of(*columns, fields);
    if (launch && note) {
      rules.notes[launch->id].push_back(std::move(*note));
    }
  }
  if (!columns) {
    return explain_ncu_failure(output).error;
  }
  rules.complete = rows.broken() == 0;
  rules.complaints = ncu_complaints(output);
  return rules;
}

}  // namespace kernelpro
