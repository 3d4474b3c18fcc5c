#include "worker/profile/ncu_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "worker/profile/ncu_messages.hpp"
#include "worker/profile/ncu_numbers.hpp"
#include "worker/profile/sass.hpp"

namespace kernelpro {
namespace {

using std::string_view;
using Fields = std::vector<string_view>;
using Column = std::optional<std::size_t>;

// An instruction takes 400 bytes and more.
constexpr std::size_t most_instructions = 2'000'000;
constexpr std::size_t longest_line = 500;
constexpr string_view no_source = "<Unable to open source file>";

// What the head of a block says where each value stands. Columns differ from kernel to kernel.
struct Columns {
  std::size_t count = 0;
  bool with_lines = false;
  Column line, line_text, address, text, samples, executed, active, threads;
  Column sectors, ideal_sectors, wavefronts, ideal_wavefronts;
  std::vector<std::pair<std::size_t, std::string>> stalls;
};

Column find(const Fields& fields, std::initializer_list<string_view> names) {
  for (const string_view name : names) {
    const auto at = std::find(fields.begin(), fields.end(), name);
    if (at != fields.end()) {
      return static_cast<std::size_t>(at - fields.begin());
    }
  }
  return std::nullopt;
}

bool is_head(const Fields& fields) {
  return fields.size() > 2 && (fields[0] == "Address" || fields[0] == "Line No") &&
         find(fields, {"Address"}) && find(fields, {"Source"});
}

Columns columns_of(const Fields& fields) {
  Columns columns;
  columns.count = fields.size();
  columns.with_lines = fields[0] == "Line No";
  columns.address = find(fields, {"Address"});
  if (columns.with_lines) {
    columns.line = 0;
    columns.line_text = find(fields, {"Source"});
  }
  // "Source" stands twice with lines; the instruction's is the one behind its address.
  if (*columns.address + 1 < fields.size() && fields[*columns.address + 1] == "Source") {
    columns.text = *columns.address + 1;
  }
  columns.samples =
      find(fields, {"# Samples", "Warp Stall Sampling (All Samples)", "Sampling Data (All)"});
  columns.executed = find(fields, {"Instructions Executed"});
  columns.active = find(fields, {"Thread Instructions Executed"});
  columns.threads = find(fields, {"Predicated-On Thread Instructions Executed"});
  columns.sectors = find(fields, {"L2 Theoretical Sectors Global"});
  columns.ideal_sectors = find(fields, {"L2 Theoretical Sectors Global Ideal"});
  columns.wavefronts = find(fields, {"L1 Wavefronts Shared"});
  columns.ideal_wavefronts = find(fields, {"L1 Wavefronts Shared Ideal"});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (std::string reason = stall_reason(fields[i]); !reason.empty()) {
      columns.stalls.emplace_back(i, std::move(reason));
    }
  }
  return columns;
}

// Counts have no fraction, so any separator in them groups digits.
std::optional<double> count_at(const Fields& fields, Column column) {
  if (!column) {
    return std::nullopt;
  }
  const string_view field = fields[*column];
  const Cell cell = read_cell(field, notation_of(field, true).value_or(Notation::point));
  return cell.kind == CellKind::number && cell.value >= 0 ? std::optional(cell.value)
                                                          : std::nullopt;
}

Stalls stalls_at(const Fields& fields, const Columns& columns) {
  Stalls stalls;
  for (const auto& [column, reason] : columns.stalls) {
    if (fields[column] == "0") {
      continue;  // most of them
    }
    if (const std::optional<double> samples = count_at(fields, column); samples && *samples > 0) {
      stalls[reason] += *samples;
    }
  }
  return stalls;
}

template <typename T>
std::optional<T> number_of(string_view text, int base) {
  T value{};
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = problem == std::errc() && stop == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> address_of(string_view text) {
  if (!text.starts_with("0x")) {
    return std::nullopt;
  }
  return number_of<std::uint64_t>(text.substr(2), 16);
}

string_view without_indent(string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

bool hotter(const HotLine& a, const HotLine& b) {
  return std::tie(b.samples, a.place.file, a.place.line) <
         std::tie(a.samples, b.place.file, b.place.line);
}

// Collects the rows of one launch.
class KernelRows {
 public:
  explicit KernelRows(string_view name) { kernel_.name = name; }

  [[nodiscard]] const std::string& name() const { return kernel_.name; }
  [[nodiscard]] std::size_t size() const { return kernel_.instructions.size(); }
  [[nodiscard]] bool has_file(const std::string& file) const {
    return std::find(files_.begin(), files_.end(), file) != files_.end();
  }
  void begin_file(const std::string& file) {
    files_.push_back(file);
    place_ = {};
  }

  void take(const Columns& columns, const Fields& fields) {
    if (columns.with_lines && !fields[*columns.line].empty()) {
      take_line(columns, fields);
      return;
    }
    if (columns.text && fields[*columns.text] != "...") {  // lines far apart
      take_instruction(columns, fields);
    }
  }

  SourceKernel finish() {
    if (!addresses_.empty()) {
      const auto first = *std::min_element(addresses_.begin(), addresses_.end());
      for (std::size_t i = 0; i < addresses_.size(); ++i) {
        kernel_.instructions[i].offset = static_cast<int>(addresses_[i] - first);
      }
      make_targets_relative(kernel_.instructions, first);
    }
    std::sort(kernel_.instructions.begin(), kernel_.instructions.end(),
              [](const Instruction& a, const Instruction& b) { return a.offset < b.offset; });
    std::sort(kernel_.lines.begin(), kernel_.lines.end(), hotter);
    return std::move(kernel_);
  }

 private:
  void take_line(const Columns& columns, const Fields& fields) {
    place_ = {.file = files_.empty() ? std::string() : files_.back(),
              .line = number_of<int>(fields[*columns.line], 10).value_or(0)};
    const std::optional<double> samples = count_at(fields, columns.samples);
    if (place_.line <= 0 || !samples || *samples == 0) {
      return;
    }
    const string_view text = without_indent(fields[*columns.line_text]);
    kernel_.lines.push_back(
        {.place = place_,
         .text = std::string(text == no_source ? string_view() : text.substr(0, longest_line)),
         .samples = *samples,
         .stalls = stalls_at(fields, columns)});
  }

  void take_instruction(const Columns& columns, const Fields& fields) {
    const std::optional<std::uint64_t> address = address_of(fields[*columns.address]);
    if (!address || (!addresses_.empty() && !near(*address))) {
      ++kernel_.unreadable;
      return;
    }
    if (const auto known = by_address_.find(*address); known != by_address_.end()) {
      prefer_place(kernel_.instructions[known->second].place);
      return;
    }
    std::optional<Instruction> instruction = parse_instruction(fields[*columns.text]);
    if (!instruction) {
      ++kernel_.unreadable;
      return;
    }
    instruction->place = place_;
    instruction->executed = count_at(fields, columns.executed);
    instruction->threads_active = count_at(fields, columns.active);
    instruction->threads_executed = count_at(fields, columns.threads);
    instruction->sectors = count_at(fields, columns.sectors);
    instruction->ideal_sectors = count_at(fields, columns.ideal_sectors);
    instruction->wavefronts = count_at(fields, columns.wavefronts);
    instruction->ideal_wavefronts = count_at(fields, columns.ideal_wavefronts);
    instruction->samples = count_at(fields, columns.samples);
    instruction->stalls = stalls_at(fields, columns);
    by_address_.emplace(*address, kernel_.instructions.size());
    addresses_.push_back(*address);
    kernel_.instructions.push_back(std::move(*instruction));
  }

  // Whether an address can belong to the kernel whose first one is known; offsets are ints.
  [[nodiscard]] bool near(std::uint64_t address) const {
    constexpr std::uint64_t most = 1U << 30;
    const std::uint64_t first = addresses_.front();
    return (address > first ? address - first : first - address) < most;
  }

  void prefer_place(SourcePlace& place) const {
    if (place.line == 0 ||
        (is_system_header(place.file) && place_.line > 0 && !is_system_header(place_.file))) {
      place = place_;
    }
  }

  SourceKernel kernel_;
  std::vector<std::string> files_;
  SourcePlace place_;  // of the line whose instructions follow
  std::vector<std::uint64_t> addresses_;
  std::unordered_map<std::uint64_t, std::size_t> by_address_;
};

class SourceReader {
 public:
  explicit SourceReader(string_view output) : output_(output), rows_(output) {}

  Result<NcuSourceReport> read() {
    while (!full_ && rows_.next()) {
      take(rows_.fields());
    }
    finish_kernel();
    if (report_.kernels.empty()) {
      return explain_ncu_failure(output_).error;
    }
    if (rows_.broken() > 0) {
      miss("a row of ncu's source page is cut off or garbled");
    }
    report_.complaints = ncu_complaints(output_);
    return std::move(report_);
  }

 private:
  void miss(string_view why) {
    report_.complete = false;
    report_.problem = report_.problem.empty() ? why : report_.problem;
  }

  void take(const Fields& fields) {
    if (fields.size() >= 2 && fields[0] == "File Path") {
      file_ = fields[1];
      columns_.reset();
    } else if (fields.size() >= 2 && (fields[0] == "Kernel Name" || fields[0] == "Function Name")) {
      begin_block(fields[1], fields[0] == "Function Name");
    } else if (is_head(fields)) {
      columns_ = columns_of(fields);
    } else if (columns_ && kernel_) {
      take_row(fields);
    }
  }

  // Of a launch with lines there is one block for each file: a file that comes again, or another
  // function, begins the next launch.
  void begin_block(string_view name, bool with_lines) {
    columns_.reset();
    if (!with_lines || !kernel_ || kernel_->name() != name || kernel_->has_file(file_)) {
      finish_kernel();
      if (!with_lines && skip_copy(name)) {
        return;
      }
      kernel_.emplace(name);
      begin_ = rows_.end();
      end_ = begin_;
    }
    if (with_lines) {
      kernel_->begin_file(file_);
    }
  }

  // A large kernel that is printed again is not read again.
  bool skip_copy(string_view name) {
    const string_view rest = output_.substr(rows_.end());
    if (report_.kernels.empty() || report_.kernels.back().name != name || last_block_.empty() ||
        !rest.starts_with(last_block_)) {
      return false;
    }
    const string_view behind = rest.substr(last_block_.size());
    if (!behind.empty() && !behind.starts_with(R"("Kernel Name",)")) {
      return false;
    }
    ++report_.kernels.back().blocks;
    rows_.skip(last_block_.size());
    return true;
  }

  void take_row(const Fields& fields) {
    if (fields.size() != columns_->count) {
      if (fields.size() > 2) {
        miss("a row of ncu's source page is cut off or garbled");
      }
      return;
    }
    kernel_->take(*columns_, fields);
    end_ = rows_.end();
    if (instructions_ + kernel_->size() > most_instructions) {
      full_ = true;
      miss(fmt::format("ncu's source page has more than {} instructions", most_instructions));
    }
  }

  void finish_kernel() {
    if (!kernel_) {
      return;
    }
    const string_view block = output_.substr(begin_, end_ - begin_);
    if (!report_.kernels.empty() && report_.kernels.back().name == kernel_->name() &&
        block == last_block_) {
      ++report_.kernels.back().blocks;
    } else {
      instructions_ += kernel_->size();
      report_.kernels.push_back(kernel_->finish());
    }
    last_block_ = block;
    kernel_.reset();
  }

  string_view output_;
  NcuRows rows_;
  NcuSourceReport report_;
  std::string file_;
  std::optional<Columns> columns_;
  std::optional<KernelRows> kernel_;
  std::size_t begin_ = 0;  // of the current kernel's rows
  std::size_t end_ = 0;
  string_view last_block_;
  std::size_t instructions_ = 0;  // of the finished kernels
  bool full_ = false;
};

}  // namespace

std::string stall_reason(string_view column) {
  constexpr string_view prefix = "stall_";
  if (!column.starts_with(prefix) || column.find(' ') != string_view::npos) {
    return {};  // "stall_wait (Not Issued)" counts a part of "stall_wait"
  }
  constexpr std::array<std::pair<string_view, string_view>, 12> names = {
      {{"long_sb", "long_scoreboard"},
       {"short_sb", "short_scoreboard"},
       {"lg", "lg_throttle"},
       {"mio", "mio_throttle"},
       {"tex", "tex_throttle"},
       {"math", "math_pipe_throttle"},
       {"no_inst", "no_instructions"},
       {"branch_resolve", "branch_resolving"},
       {"dispatch", "dispatch_stall"},
       {"imc", "imc_miss"},
       {"sleep", "sleeping"},
       {"gmma", "warpgroup_arrive"}}};
  const string_view reason = column.substr(prefix.size());
  for (const auto& [from, to] : names) {
    if (reason == from) {
      return std::string(to);
    }
  }
  return std::string(reason);  // the others are called alike: "barrier", "wait"
}

Result<NcuSourceReport> read_ncu_source(string_view output) {
  return SourceReader(output).read();
}

}  // namespace kernelpro
