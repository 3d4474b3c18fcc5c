#include "worker/host/host_code.hpp"

#include <algorithm>
#include <map>

#include "common/base/text.hpp"
#include "worker/host/loop_facts.hpp"
#include "worker/host/operands_text.hpp"

namespace kernelpro {

namespace {

// "0000000000001139 <main>:" begins a function.
bool read_head(std::string_view line, std::string& name) {
  const std::size_t open = line.find(" <");
  if (open == std::string_view::npos || !line.ends_with(">:") ||
      parse_address(line.substr(0, open)) < 0) {
    return false;
  }
  name = line.substr(open + 2, line.size() - open - 4);
  return true;
}

// "    1139:\tpush   %rbp"
bool read_code(std::string_view line, MachineLine& out) {
  const std::size_t colon = line.find(":\t");
  if (colon == std::string_view::npos) {
    return false;
  }
  out.address = parse_address(trimmed(line.substr(0, colon), " "));
  out.text = trimmed(line.substr(colon + 2), " \t");
  return out.address >= 0 && !out.text.empty() && out.text != "(bad)";
}

}  // namespace

std::vector<HostFunction> parse_objdump(std::string_view text) {
  std::vector<HostFunction> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string name;
    MachineLine code;
    if (read_head(line, name)) {
      out.push_back({std::move(name), {}});
    } else if (!out.empty() && read_code(line, code) &&
               (out.back().lines.empty() || out.back().last() < code.address)) {
      out.back().lines.push_back(code);
    }
  }
  std::erase_if(out, [](const HostFunction& one) { return one.lines.empty(); });
  return out;
}

std::vector<FoundLoop> innermost_loops(const HostFunction& function, bool arm) {
  std::vector<HostInstruction> all;
  all.reserve(function.lines.size());
  for (const MachineLine& line : function.lines) {
    all.push_back(parse_host_instruction(line.address, line.text, arm));
  }
  // Branches back to one place are one loop.
  std::map<std::int64_t, std::int64_t> loops;
  for (const HostInstruction& one : all) {
    if (one.kind == HostKind::branch && one.target >= function.begin() &&
        one.target <= one.address) {
      loops[one.target] = one.address;
    }
  }
  std::vector<FoundLoop> out;
  for (const auto& [begin, end] : loops) {
    const bool has_inner = std::any_of(loops.begin(), loops.end(), [&](const auto& other) {
      return other.first > begin && other.second < end;
    });
    if (has_inner) {
      continue;
    }
    FoundLoop found;
    std::copy_if(
        all.begin(), all.end(), std::back_inserter(found.body),
        [&](const HostInstruction& one) { return one.address >= begin && one.address <= end; });
    found.loop = facts_of_loop(found.body);
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace kernelpro
