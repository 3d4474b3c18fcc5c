// What ncu says of each profiled launch: its table of metrics (page "raw") and the notes of its own
// rules (page "details"), as CSV.
//
// A value that cannot be read with certainty is absent with the reason; it is never zero. Whole
// rows of a table that was cut off are kept. ncu_source.hpp reads the page about instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/profile.hpp"
#include "worker/profile/ncu_numbers.hpp"
#include "worker/profile/ncu_output.hpp"

namespace kernelpro {

struct NcuColumn {
  std::string name;  // of the metric
  std::string unit;  // base: "byte", "ns", "%"; empty: a plain number
};

// One value of the table. A report holds millions of them, so a text is kept once for all cells.
struct NcuCell {
  double value = 0;        // of a number, in the column's unit
  std::uint32_t text = 0;  // index into the report's texts
  CellKind kind = CellKind::empty;
};

struct NcuLaunch {
  std::int64_t id = 0;  // ncu's count of profiled launches, from 0
  std::int64_t process = 0;
  std::string process_name;
  std::string name;  // of the kernel
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  Extent block{};  // zeros: not readable, as for grid
  Extent grid{};
  int device = 0;
  std::string capability;      // "9.0"
  std::vector<NcuCell> cells;  // one for each column
};

struct NcuValue {
  std::optional<double> number;
  std::string text;  // where the value is a word
  std::string unit;
  std::string why;  // there is no number
};

struct NcuRawReport {
  std::vector<NcuColumn> columns;
  std::map<std::string, std::size_t, std::less<>> index;  // of the columns, by name
  std::vector<NcuLaunch> launches;                        // in the order they ran
  std::vector<std::string> texts;
  NcuComplaints complaints;
  bool complete = true;  // false: rows are missing
  std::string problem;   // why

  [[nodiscard]] NcuValue value(const NcuLaunch& launch, std::string_view metric) const;
};

// An output without a table is an error that says what ncu complained of.
[[nodiscard]] Result<NcuRawReport> read_ncu_raw(std::string_view output);

struct NcuRules {
  std::map<std::int64_t, std::vector<RuleNote>> notes;  // by the launch's id
  NcuComplaints complaints;
  bool complete = true;
};

// ncu estimates the speedup of a kernel ("global") or of one of its parts ("local"); a note has the
// first only. A launch without a note is not in the map.
[[nodiscard]] Result<NcuRules> read_ncu_rules(std::string_view output);

}  // namespace kernelpro
