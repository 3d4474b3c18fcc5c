#include "worker/host/hot_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "common/base/sort.hpp"
#include "worker/host/elf_segments.hpp"

namespace kernelpro {

namespace {

// Modules, functions and loops with less of the time are not looked at.
constexpr double least_module = 0.05;
constexpr double least_function = 0.02;
constexpr double least_loop = 0.02;
constexpr std::size_t most_functions = 8;
constexpr std::size_t most_lines = 10;
// Larger modules are read around their samples only.
constexpr std::int64_t whole_bytes = 4 << 20;
constexpr std::int64_t around_bytes = 32 << 10;

using AddressSamples = std::map<std::int64_t, double>;

AddressSamples linked_addresses(const ElfSegments& segments, const AddressSamples& by_offset) {
  AddressSamples out;
  for (const auto& [offset, count] : by_offset) {
    if (const std::int64_t address = segments.address_of(offset); address >= 0) {
      out[address] += count;
    }
  }
  return out;
}

// Ranges that hold all samples, for modules too large to read.
std::vector<std::pair<std::int64_t, std::int64_t>> ranges_around(const AddressSamples& samples) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (const auto& [address, count] : samples) {
    if (!out.empty() && address - around_bytes <= out.back().second) {
      out.back().second = address + around_bytes;
    } else {
      out.emplace_back(std::max<std::int64_t>(0, address - around_bytes), address + around_bytes);
    }
  }
  return out;
}

Result<std::string> disassemble(const std::string& module, const ElfSegments& segments,
                                const AddressSamples& samples, const HostTools& tools,
                                std::stop_token stop) {
  if (tools.disassembler.empty()) {
    return make_error(ErrorKind::environment, "objdump is not there: install binutils");
  }
  const std::vector<std::string> base = {tools.disassembler, "-d", "-C", "-w",
                                         "--no-show-raw-insn"};
  if (segments.code_bytes <= whole_bytes) {
    std::vector<std::string> words = base;
    words.push_back(module);
    return run_reader(tools, words, {module}, stop);
  }
  std::string text;
  for (const auto& [begin, end] : ranges_around(samples)) {
    std::vector<std::string> words = base;
    words.push_back(fmt::format("--start-address={}", begin));
    words.push_back(fmt::format("--stop-address={}", end));
    words.push_back(module);
    KP_LET(const std::string part, run_reader(tools, words, {module}, stop));
    text += part;
  }
  return text;
}

double samples_between(const AddressSamples& samples, std::int64_t begin, std::int64_t last) {
  double sum = 0;
  for (auto at = samples.lower_bound(begin); at != samples.end() && at->first <= last; ++at) {
    sum += at->second;
  }
  return sum;
}

// "file:line" for each address, in their order; nothing where there is no line information.
std::vector<SourcePlace> lines_of(const std::string& module,
                                  const std::vector<std::int64_t>& addresses,
                                  const HostTools& tools, std::stop_token stop) {
  std::vector<SourcePlace> out(addresses.size());
  if (tools.lines.empty() || addresses.empty()) {
    return out;
  }
  std::vector<std::string> words = {tools.lines, "-e", module};
  for (const std::int64_t address : addresses) {
    words.push_back(fmt::format("{:#x}", address));
  }
  const Result<std::string> text = run_reader(tools, words, {module}, stop);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  for (std::size_t i = 0; i < out.size() && !rest.empty(); ++i) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    line = line.substr(0, line.find(" ("));
    const std::size_t colon = line.rfind(':');
    if (colon != std::string_view::npos && !line.starts_with("??")) {
      std::from_chars(line.data() + colon + 1, line.data() + line.size(), out[i].line);
      out[i].file = line.substr(0, colon);
    }
  }
  return out;
}

void add_lines(HotFunction& function, const AddressSamples& samples, std::int64_t begin,
               std::int64_t last, const HostTools& tools, const std::stop_token& stop) {
  std::vector<std::pair<double, std::int64_t>> hot;
  for (auto at = samples.lower_bound(begin); at != samples.end() && at->first <= last; ++at) {
    hot.emplace_back(at->second, at->first);
  }
  std::sort(hot.rbegin(), hot.rend());
  hot.resize(std::min(hot.size(), 4 * most_lines));
  std::vector<std::int64_t> addresses;
  addresses.reserve(hot.size());
  for (const auto& [count, address] : hot) {
    addresses.push_back(address);
  }
  const std::vector<SourcePlace> places = lines_of(function.module, addresses, tools, stop);
  for (std::size_t i = 0; i < hot.size(); ++i) {
    if (places[i].line == 0) {
      continue;
    }
    const auto known =
        std::find_if(function.lines.begin(), function.lines.end(), [&](const HotLine& line) {
          return line.place.line == places[i].line && line.place.file == places[i].file;
        });
    if (known != function.lines.end()) {
      known->samples += hot[i].first;
    } else {
      function.lines.push_back({places[i], "", hot[i].first, {}});
    }
    // A loop lies where most of its samples do.
    for (FoundLoop& found : function.loops) {
      if (found.loop.place.line == 0 && hot[i].second >= found.loop.begin &&
          hot[i].second <= found.loop.end) {
        found.loop.place = places[i];
      }
    }
  }
  sort_keeping_ties(function.lines,
                    [](const HotLine& a, const HotLine& b) { return a.samples > b.samples; });
  function.lines.resize(std::min(function.lines.size(), most_lines));
}

std::string short_module(const std::string& module) {
  return std::filesystem::path(module).filename().string();
}

// A section without symbols: objdump names it by its section.
std::string function_name(const HostFunction& function, const std::string& module) {
  const bool nameless = function.name.starts_with(".") || function.name.starts_with("@@Base");
  return nameless ? fmt::format("{}+{:#x}", short_module(module), function.begin()) : function.name;
}

void read_module(const std::string& module, const AddressSamples& by_offset, double working,
                 const HostTools& tools, HotCode& out, const std::stop_token& stop) {
  const Result<ElfSegments> segments = read_elf_segments(module);
  const AddressSamples samples =
      segments ? linked_addresses(*segments, by_offset) : AddressSamples();
  const Result<std::string> text = segments ? disassemble(module, *segments, samples, tools, stop)
                                            : Result<std::string>(segments.error());
  if (!text) {
    out.problems.push_back(short_module(module) + ": " + text.error().message);
    return;
  }
  for (const HostFunction& function : parse_objdump(*text)) {
    const double count = samples_between(samples, function.begin(), function.last());
    if (count < least_function * working || count < 1) {
      continue;
    }
    HotFunction hot{function_name(function, module), module, count, {}, {}};
    for (FoundLoop& found : innermost_loops(function, segments->arm)) {
      found.loop.share = samples_between(samples, found.loop.begin, found.loop.end) / working;
      if (found.loop.share >= least_loop || !found.loop.calls.empty()) {
        hot.loops.push_back(std::move(found));
      }
    }
    sort_keeping_ties(hot.loops, [](const FoundLoop& a, const FoundLoop& b) {
      return a.loop.share > b.loop.share;
    });
    add_lines(hot, samples, function.begin(), function.last(), tools, stop);
    out.functions.push_back(std::move(hot));
  }
}

// What is spent in libraries of mathematics, and on the way to them, belongs to the loops that call
// into them.
void charge_callers(const HostSamples& samples, double working, HotCode& code) {
  double in_math = 0;
  for (const auto& [module, counts] : samples.modules) {
    const std::string name = short_module(module);
    if (name.starts_with("libm.") || name.starts_with("libm-")) {
      for (const auto& [offset, count] : counts) {
        in_math += count;
      }
    }
  }
  double callers = 0;
  for (const HotFunction& function : code.functions) {
    in_math += function.name.ends_with("@plt") ? function.samples : 0;
    for (const FoundLoop& found : function.loops) {
      callers += found.loop.calls.empty() ? 0 : found.loop.share;
    }
  }
  for (HotFunction& function : code.functions) {
    for (FoundLoop& found : function.loops) {
      if (!found.loop.calls.empty() && callers > 0) {
        found.loop.share += in_math / working * found.loop.share / callers;
      }
    }
    std::erase_if(function.loops,
                  [](const FoundLoop& found) { return found.loop.share < least_loop; });
  }
}

}  // namespace

HotCode find_hot_code(const HostSamples& samples, const HostTools& tools, std::stop_token stop) {
  double working = samples.elsewhere;
  std::vector<std::pair<double, std::string>> modules;
  for (const auto& [module, counts] : samples.modules) {
    double sum = 0;
    for (const auto& [offset, count] : counts) {
      sum += count;
    }
    if (!lets_threads_wait(module)) {
      working += sum;
      modules.emplace_back(sum, module);
    }
  }
  std::sort(modules.rbegin(), modules.rend());
  HotCode out;
  for (const auto& [count, module] : modules) {
    if (count >= least_module * working) {
      read_module(module, samples.modules.at(module), working, tools, out, stop);
    }
  }
  charge_callers(samples, working, out);
  sort_keeping_ties(out.functions, [](const HotFunction& a, const HotFunction& b) {
    return a.samples > b.samples;
  });
  out.functions.resize(std::min(out.functions.size(), most_functions));
  return out;
}

}  // namespace kernelpro
