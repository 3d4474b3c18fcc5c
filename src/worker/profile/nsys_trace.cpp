#include "worker/profile/nsys_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/text.hpp"
#include "worker/profile/call_kind.hpp"
#include "worker/profile/csv.hpp"
#include "worker/profile/recording.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_output = std::size_t{512} << 20U;
constexpr std::int64_t patience_ms = 600'000;  // a long recording is exported first
constexpr char recording_command[] =
    "nsys stats --report cuda_gpu_trace --report cuda_api_trace --format csv";

// In nanoseconds or bytes. nsys writes MB for a million bytes.
constexpr auto units = std::to_array<std::pair<std::string_view, double>>({
    {"ns", 1},
    {"nsec", 1},
    {"us", 1e3},
    {"usec", 1e3},
    {"ms", 1e6},
    {"msec", 1e6},
    {"s", 1e9},
    {"sec", 1e9},
    {"b", 1},
    {"bytes", 1},
    {"kb", 1e3},
    {"mb", 1e6},
    {"gb", 1e9},
    {"kib", 1024},
    {"mib", 1024.0 * 1024},
    {"gib", 1024.0 * 1024 * 1024},
});

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return out;
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text, " ");
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = failure == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// A report's rows, whatever stands before them. Columns are known by the name before their unit.
class Report {
 public:
  explicit Report(std::string_view text) : rows_(text) {
    while (columns_.empty() && !rows_.ended()) {
      const std::size_t line = rows_.position();
      if (rows_.next() == CsvRow::whole && is_header(rows_.fields())) {
        read_header(rows_.fields());
      } else {
        rows_.seek(line);
        note_message(rows_.line());
        rows_.skip_line();
      }
    }
  }

  [[nodiscard]] bool found() const { return !columns_.empty(); }
  // Why nsys printed no such report, in its own words.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] std::size_t bad_rows() const { return bad_rows_; }
  void count_bad_row() { ++bad_rows_; }

  // Goes to the next row; false at the end. Lines of another form are skipped and counted.
  bool next() {
    while (!rows_.ended()) {
      const CsvRow row = rows_.next();
      if (row == CsvRow::whole && rows_.fields().size() == width_) {
        return true;
      }
      if (row == CsvRow::whole && rows_.fields().size() == 1 &&
          trimmed(rows_.fields()[0], " ").empty()) {
        continue;
      }
      ++bad_rows_;
      if (row != CsvRow::whole) {
        rows_.skip_line();
      }
    }
    return false;
  }

  [[nodiscard]] std::string_view text(const std::string& column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? std::string_view()
                                   : trimmed(rows_.fields()[found->second.index], " ");
  }

  // In nanoseconds or bytes where the column has a unit. Nothing when it is no such number.
  [[nodiscard]] std::optional<std::int64_t> amount(const std::string& column) const {
    const auto found = columns_.find(column);
    const std::optional<double> value = number_in(text(column));
    if (!value) {
      return std::nullopt;
    }
    const double scaled = *value * found->second.unit;
    const bool believable = scaled >= 0 && scaled <= static_cast<double>(latest_time) / 2;
    return believable ? std::optional(std::llround(scaled)) : std::nullopt;
  }

  [[nodiscard]] std::uint32_t id(const std::string& column) const {
    return static_cast<std::uint32_t>(amount(column).value_or(0));
  }

  template <typename Record>
  [[nodiscard]] bool read_times(Record& record) const {
    const std::optional<std::int64_t> start = amount("start");
    const std::optional<std::int64_t> duration = amount("duration");
    if (!start || !duration) {
      return false;
    }
    record.start_ns = *start;
    record.end_ns = *start + *duration;
    return true;
  }

 private:
  struct Column {
    std::size_t index = 0;
    double unit = 1;
  };

  // "Start (ns)" or "Start(nsec)"
  static std::pair<std::string, std::string> split(std::string_view title) {
    const std::size_t open = std::min(title.find('('), title.size());
    std::string_view unit = title.substr(std::min(open + 1, title.size()));
    unit = unit.substr(0, unit.find(')'));
    return {lower(trimmed(title.substr(0, open), " ")), lower(trimmed(unit, " "))};
  }

  static bool is_header(const std::vector<std::string_view>& fields) {
    std::set<std::string> names;
    for (const std::string_view field : fields) {
      names.insert(split(field).first);
    }
    return names.contains("start") && names.contains("duration") && names.contains("name");
  }

  void read_header(const std::vector<std::string_view>& fields) {
    width_ = fields.size();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      auto [name, unit] = split(fields[i]);
      const auto* const known = std::find_if(
          units.begin(), units.end(), [&](const auto& entry) { return entry.first == unit; });
      columns_.emplace(std::move(name), Column{i, known == units.end() ? 1 : known->second});
    }
  }

  void note_message(std::string_view line) {
    if (line.find("does not contain") != std::string_view::npos ||
        line.find("ERROR") != std::string_view::npos) {
      message_ = trimmed(line, " ");
    }
  }

  CsvReader rows_;
  std::map<std::string, Column> columns_;
  std::size_t width_ = 0;
  std::size_t bad_rows_ = 0;
  std::string message_;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "[CUDA memcpy Host-to-Device]"; older versions write "[CUDA memcpy HtoD]".
CopyKind copy_kind(std::string_view name) {
  if (contains(name, "Host-to-Device") || contains(name, "HtoD")) {
    return CopyKind::host_to_device;
  }
  if (contains(name, "Device-to-Host") || contains(name, "DtoH")) {
    return CopyKind::device_to_host;
  }
  const bool within = contains(name, "Device-to-Device") || contains(name, "DtoD") ||
                      contains(name, "Peer-to-Peer") || contains(name, "PtoP");
  return within ? CopyKind::device_to_device : CopyKind::other;
}

bool take_launch(const Report& row, Recording& out) {
  TracedLaunch launch;
  if (!row.read_times(launch)) {
    return false;
  }
  launch.name = row.text("name");
  launch.context = row.id("ctx");
  launch.stream = row.id("strm");
  launch.correlation = row.id("corrid");
  launch.grid = {row.amount("grdx").value_or(0), row.amount("grdy").value_or(0),
                 row.amount("grdz").value_or(0)};
  launch.block = {row.amount("blkx").value_or(0), row.amount("blky").value_or(0),
                  row.amount("blkz").value_or(0)};
  launch.registers = static_cast<int>(std::min<std::uint32_t>(row.id("reg/trd"), 255));
  launch.static_shared_bytes = row.amount("stcsmem").value_or(0);
  launch.dynamic_shared_bytes = row.amount("dymsmem").value_or(0);
  out.launches.push_back(std::move(launch));
  return true;
}

bool take_copy(const Report& row, Recording& out) {
  TracedCopy copy;
  if (!row.read_times(copy)) {
    return false;
  }
  copy.kind = copy_kind(row.text("name"));
  copy.pageable = row.text("srcmemkd") == "Pageable" || row.text("dstmemkd") == "Pageable";
  copy.bytes = row.amount("bytes").value_or(0);
  copy.stream = row.id("strm");
  copy.correlation = row.id("corrid");
  out.copies.push_back(copy);
  return true;
}

bool take_fill(const Report& row, Recording& out) {
  TracedFill fill;
  if (!row.read_times(fill)) {
    return false;
  }
  fill.bytes = row.amount("bytes").value_or(0);
  fill.stream = row.id("strm");
  fill.correlation = row.id("corrid");
  out.fills.push_back(fill);
  return true;
}

bool take_work(const Report& row, Recording& out) {
  const std::string_view name = row.text("name");
  if (row.amount("grdx")) {
    return take_launch(row, out);
  }
  if (name.starts_with("[CUDA") && contains(name, "memset")) {
    return take_fill(row, out);
  }
  return name.starts_with("[CUDA") && take_copy(row, out);
}

bool take_call(const Report& row, Recording& out) {
  TracedCall call;
  if (!row.read_times(call)) {
    return false;
  }
  call.name = row.text("name");
  call.kind = call_kind(call.name);
  call.thread = row.id("tid");
  call.correlation = row.id("corrid");
  out.calls.push_back(std::move(call));
  return true;
}

void add_problem(Recording& out, const std::string& text) {
  out.problem += (out.problem.empty() ? "" : "; ") + text;
}

void note_bad_rows(Recording& out, const Report& report, const char* name) {
  if (report.bad_rows() > 0) {
    add_problem(out, fmt::format("{} rows of {} cannot be read", report.bad_rows(), name));
  }
}

void read_calls(Recording& out, std::string_view csv) {
  Report report(csv);
  if (!report.found()) {
    add_problem(out, "there is no report cuda_api_trace: what the host did is not known");
    return;
  }
  std::set<std::uint32_t> processes;
  while (report.next()) {
    if (!take_call(report, out)) {
      report.count_bad_row();
    }
    processes.insert(report.id("pid"));
  }
  note_bad_rows(out, report, "cuda_api_trace");
  // Each of them numbers its calls from 1 on.
  if (processes.size() > 1) {
    add_problem(out, fmt::format("{} processes were recorded together", processes.size()));
  }
}

std::string report_text(const Finished& done) {
  return std::string(trimmed(done.errors.empty() ? done.output : done.errors, " ")).substr(0, 500);
}

Result<std::string> ask(const std::string& nsys, const fs::path& recording,
                        const fs::path& database, const std::string& report, std::stop_token stop) {
  Command command;
  command.arguments = {
      nsys,       "stats", "--force-export=true", "--sqlite", database.string(), "--report", report,
      "--format", "csv",   recording.string()};
  command.inherit_environment = true;
  command.timeout_ms = patience_ms;
  command.output_limit = most_output;
  KP_LET(Finished done, run_command(command, stop));
  if (!done.succeeded()) {
    return make_error(ErrorKind::bad_input, "nsys cannot read this recording: " + report_text(done),
                      recording.string());
  }
  return std::move(done.output);
}

}  // namespace

Result<Trace> read_nsys_trace(std::string_view gpu_csv, std::string_view api_csv) {
  Recording out;
  out.origin = "nsys";
  Report report(gpu_csv);
  if (!report.found()) {
    return make_error(
        ErrorKind::bad_input,
        report.message().empty()
            ? fmt::format(
                  "this is not what '{}' prints: no row names the columns Start, Duration and "
                  "Name",
                  recording_command)
            : "nsys says: " + report.message());
  }
  while (report.next()) {
    if (!take_work(report, out)) {
      report.count_bad_row();
    }
  }
  note_bad_rows(out, report, "cuda_gpu_trace");
  if (!api_csv.empty()) {
    read_calls(out, api_csv);
  }
  return whole_trace_of(std::move(out));
}

Result<Trace> read_nsys_report(const fs::path& path, std::stop_token stop) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) {
    return make_error(ErrorKind::bad_input, "there is no such file", path.string());
  }
  const std::optional<std::string> nsys = find_program("nsys");
  if (!nsys) {
    return make_error(
        ErrorKind::environment,
        "reading a recording of Nsight Systems needs its program nsys in PATH; it is not "
        "there",
        path.string());
  }
  // The user's folder stays as it is.
  KP_LET(const ScratchDir scratch, ScratchDir::create("nsys"));
  const fs::path database = scratch.path() / "recording.sqlite";
  // Names as the compiler made them, where this nsys has them.
  Result<std::string> gpu = ask(*nsys, path, database, "cuda_gpu_trace:mangled", stop);
  if (!gpu || !Report(*gpu).found()) {
    gpu = ask(*nsys, path, database, "cuda_gpu_trace", stop);
  }
  if (!gpu) {
    return gpu.error();
  }
  KP_LET(const std::string api, ask(*nsys, path, database, "cuda_api_trace", stop));
  return read_nsys_trace(*gpu, api);
}

}  // namespace kernelpro
