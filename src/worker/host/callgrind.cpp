#include "worker/host/callgrind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/text.hpp"
#include "worker/host/operands_text.hpp"

namespace kernelpro {

namespace {

constexpr char counts_name[] = "callgrind.out";

// The columns of the events, in the order of the file's own list.
struct Columns {
  std::vector<std::string> names;

  [[nodiscard]] double sum(const std::vector<double>& values,
                           std::initializer_list<std::string_view> wanted) const {
    double out = 0;
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
      out += std::find(wanted.begin(), wanted.end(), names[i]) != wanted.end() ? values[i] : 0;
    }
    return out;
  }
};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  while (!(line = trimmed(line)).empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    out.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return out;
}

// "0x1139 12 1 0 0 …": the address, the line, and the events; false: some other line.
bool read_counts(std::string_view line, std::int64_t& address, std::vector<double>& values) {
  if (!line.starts_with("0x")) {
    return false;
  }
  const std::vector<std::string> words = words_of(line);
  if (words.size() < 2) {
    return false;
  }
  address = parse_address(words[0]);
  values.clear();
  for (std::size_t i = 2; i < words.size(); ++i) {
    double value = 0;
    std::from_chars(words[i].data(), words[i].data() + words[i].size(), value);
    values.push_back(value);
  }
  return address >= 0;
}

}  // namespace

Result<CallgrindCounts> parse_callgrind(std::string_view text) {
  CallgrindCounts out;
  Columns columns;
  std::map<std::int64_t, InstructionCounts>* module = nullptr;
  bool of_a_call = false;  // the next counts are those of what was called
  std::vector<double> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::int64_t address = 0;
    if (line.starts_with("events: ")) {
      columns.names = words_of(line.substr(8));
    } else if (line.starts_with("ob=")) {
      module = &out[std::string(line.substr(3))];
    } else if (line.starts_with("calls=")) {
      of_a_call = true;
    } else if (read_counts(line, address, values)) {
      if (!std::exchange(of_a_call, false) && module != nullptr) {
        InstructionCounts& one = (*module)[address];
        one.executed += columns.sum(values, {"Ir"});
        one.accesses += columns.sum(values, {"Dr", "Dw"});
        one.first_misses += columns.sum(values, {"D1mr", "D1mw"});
        one.last_misses += columns.sum(values, {"DLmr", "DLmw"});
      }
    }
  }
  if (columns.names.empty()) {
    return make_error(ErrorKind::bad_input, "this is no file of callgrind");
  }
  return out;
}

namespace {

// `times`: how much more than this the sampled program did.
void fill_in(const std::map<std::int64_t, InstructionCounts>& counts, double times,
             HostLoop& loop) {
  InstructionCounts sum;
  double last = 0;
  for (auto at = counts.lower_bound(loop.begin); at != counts.end() && at->first <= loop.end;
       ++at) {
    sum.accesses += at->second.accesses;
    sum.first_misses += at->second.first_misses;
    sum.last_misses += at->second.last_misses;
    last = at->second.executed;
  }
  if (last <= 0) {
    return;
  }
  loop.turns = last * times;
  loop.accesses = sum.accesses * times;
  loop.first_misses = sum.first_misses * times;
  loop.last_misses = sum.last_misses * times;
}

}  // namespace

Status count_loops(const ProfiledProgram& program, const HostSettings& settings, HotCode& code,
                   std::stop_token stop) {
  if (settings.tools.valgrind.empty()) {
    return make_error(ErrorKind::environment,
                      "valgrind is not there: install it (KERNELPRO_VALGRIND names another)");
  }
  const std::filesystem::path file = settings.folder / counts_name;
  const std::vector<std::string> wrapper = {settings.tools.valgrind,
                                            "--tool=callgrind",
                                            "--dump-instr=yes",
                                            "--cache-sim=yes",
                                            "--compress-strings=no",
                                            "--compress-pos=no",
                                            "--vgdb=no",
                                            "-q",
                                            "--callgrind-out-file=" + file.string()};
  KP_LET(const Finished finished, run_profiled(settings.counted.value_or(program), wrapper,
                                               {{"OMP_WAIT_POLICY", "passive"}}, stop));
  if (finished.timed_out) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it did not end within {:.0f} s under it",
                                  static_cast<double>(program.timeout_ms) / 1e3));
  }
  const bool unknown = finished.errors.find("Unrecogni") != std::string::npos ||
                       finished.errors.find("unhandled instruction") != std::string::npos;
  if (unknown || finished.signal != 0) {
    return make_error(ErrorKind::bad_input,
                      unknown
                          ? "the program has instructions that valgrind does not know (AVX-512, "
                            "SVE): build it without them"
                          : fmt::format("it was ended by signal {} under it", finished.signal));
  }
  KP_LET(const std::string text, read_file(file));
  KP_LET(const CallgrindCounts counts, parse_callgrind(text));
  for (HotFunction& function : code.functions) {
    const auto module = counts.find(function.module);
    for (FoundLoop& found : function.loops) {
      if (module != counts.end()) {
        fill_in(module->second, 1 / settings.counted_share, found.loop);
      }
    }
  }
  return {};
}

}  // namespace kernelpro
