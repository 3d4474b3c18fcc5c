#include "common/wire/trace_json.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/enum_names.hpp"
#include "common/wire/values.hpp"

namespace kernelpro {

std::string_view name_of(CopyKind kind) {
  static constexpr std::array<std::string_view, 4> names = {"host_to_device", "device_to_host",
                                                            "device_to_device", "other"};
  return enum_name(names, kind);
}

std::string_view name_of(CallKind kind) {
  static constexpr std::array<std::string_view, 7> names = {
      "launch", "copy", "fill", "synchronize", "allocate", "release", "other"};
  return enum_name(names, kind);
}

KP_LAST(CopyKind, other);
KP_LAST(CallKind, other);

// Names by number, in the order of their first use.
struct NumberedNames {
  std::vector<std::string> list;
  std::map<std::string, std::int64_t> numbers;
};

// Rows that are written as columns of one length. The first column says how many there are.
template <typename Row>
class Columns {
 public:
  Columns(std::vector<Row>& rows, NumberedNames& names) : rows_(rows), names_(names) {}

  template <typename T>
  void column(Form& form, const char* key, T Row::* member) {
    std::vector<Cell<T>> cells;
    if (!form.reading()) {
      for (const Row& row : rows_) {
        cells.push_back(cell_of(row.*member));
      }
    }
    form(key, cells);
    if (form.reading() && fits(form.last(), cells.size())) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        take(form.last(), i, cells[i], rows_[i].*member);
      }
    }
  }

 private:
  template <typename T>
  static constexpr bool whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  // Whole numbers are read as such before they are narrowed; names stand there by number.
  template <typename T>
  using Cell = std::conditional_t<whole<T> || std::is_same_v<T, std::string>, std::int64_t, T>;

  template <typename T>
  static Cell<T> cell_of(const T& value) {
    return value;
  }
  std::int64_t cell_of(const std::string& name) {
    const auto [at, fresh] = names_.numbers.try_emplace(name, std::ssize(names_.list));
    if (fresh) {
      names_.list.push_back(name);
    }
    return at->second;
  }

  template <typename T>
  void take(const Place& place, std::size_t row, const Cell<T>& cell, T& value) const {
    const auto complain = [&](const std::string& what) {
      place.complain("row " + std::to_string(row) + " has " + what);
    };
    if constexpr (std::is_same_v<T, std::string>) {
      if (cell < 0 || cell >= std::ssize(names_.list)) {
        return complain("name " + std::to_string(cell) + " of " +
                        std::to_string(names_.list.size()));
      }
      value = names_.list[static_cast<std::size_t>(cell)];
    } else if constexpr (whole<T>) {
      if (!std::in_range<T>(cell)) {
        complain(std::to_string(cell) + ", which is out of range");
      }
      value = static_cast<T>(cell);
    } else {
      value = cell;
    }
  }

  bool fits(const Place& place, std::size_t size) {
    if (std::exchange(first_, false)) {
      rows_.resize(size);
    }
    if (rows_.size() != size) {
      place.complain("the column has " + std::to_string(size) + " rows, the first has " +
                     std::to_string(rows_.size()));
    }
    return rows_.size() == size;
  }

  std::vector<Row>& rows_;
  NumberedNames& names_;
  bool first_ = true;
};

#define KP_COLUMNS(form, columns, ...) KP_EACH(KP_COLUMN, form, columns, __VA_ARGS__)
#define KP_COLUMN(form, columns, member) columns.column(form, #member, &Row::member)

void describe(Form& form, Columns<TracedLaunch>& launches) {
  using Row = TracedLaunch;
  KP_COLUMNS(form, launches, index, name, module, context, stream, correlation, start_ns, end_ns,
             grid, block, registers, static_shared_bytes, dynamic_shared_bytes, local_bytes);
}

void describe(Form& form, Columns<TracedCopy>& copies) {
  using Row = TracedCopy;
  KP_COLUMNS(form, copies, kind, pageable, bytes, stream, correlation, start_ns, end_ns);
}

void describe(Form& form, Columns<TracedFill>& fills) {
  using Row = TracedFill;
  KP_COLUMNS(form, fills, bytes, stream, correlation, start_ns, end_ns);
}

void describe(Form& form, Columns<TracedCall>& calls) {
  using Row = TracedCall;
  KP_COLUMNS(form, calls, kind, name, thread, correlation, start_ns, end_ns);
}

void describe(Form& form, Trace& trace) {
  form.version(1, "a trace");
  form("origin", trace.origin);
  form.nonempty("architecture", trace.architecture);
  form("complete", trace.complete);
  form.nonempty("problem", trace.problem);
  form("end_ns", trace.end_ns);
  NumberedNames names;  // known before columns are read, and after they were written
  if (form.reading()) {
    form("names", names.list);
  }
  Columns launches(trace.launches, names);
  Columns copies(trace.copies, names);
  Columns fills(trace.fills, names);
  Columns calls(trace.calls, names);
  form("launches", launches);
  form("copies", copies);
  form("fills", fills);
  form("calls", calls);
  if (!form.reading()) {
    form("names", names.list);
  }
}

KP_JSON_OF(Trace, trace_from_json)

}  // namespace kernelpro
