#include "coordinator/task/plan_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "coordinator/task/bad.hpp"

namespace kernelpro {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<NumberRange> parse_range(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3 || parts[0] != "uniform") {
    return {};
  }
  const auto low = parse_number(parts[1]);
  const auto high = parse_number(parts[2]);
  return low && high && *low < *high ? std::optional(NumberRange{*low, *high}) : std::nullopt;
}

Result<PlannedValues> parse_values(const EntryParameter& parameter, const std::string& flag,
                                   const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string kind = parts.empty() ? "" : parts[0];
  if (is_floating(parameter.dtype) ? kind != "uniform" : kind == "normal") {
    return bad(flag, fmt::format("{} holds {}; {}", parameter.name, name_of(parameter.dtype),
                                 is_floating(parameter.dtype)
                                     ? "expected uniform:LOW:HIGH (normal is the default)"
                                     : "expected index, offsets, csr_columns or uniform"));
  }
  PlannedValues values;
  if (kind == "uniform" && parts.size() == 3) {
    const auto range = parse_range(text);
    if (!range) {
      return bad(flag, "expected two numbers, the lower first: uniform:LOW:HIGH");
    }
    values.toml =
        fmt::format("{{ kind = \"uniform\", low = {}, high = {} }}", range->low, range->high);
    return values;
  }
  const bool bounded = (kind == "index" || kind == "offsets") && parts.size() == 2;
  const bool columns = kind == "csr_columns" && parts.size() == 3;
  if (!bounded && !columns) {
    return bad(flag,
               "expected index:BOUND, offsets:BOUND, csr_columns:BOUND:ROWPTR or "
               "uniform:LOW:HIGH");
  }
  values.bound = parts[1];
  values.offsets = kind == "offsets";
  std::string rows;
  if (columns) {
    values.rows_of = parts[2];
    rows = fmt::format(", rows_of = \"{}\"", parts[2]);
  }
  values.toml = fmt::format(R"({{ kind = "{}", bound = "{}"{} }})", kind, parts[1], rows);
  return values;
}

}  // namespace kernelpro
