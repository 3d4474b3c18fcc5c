#include "worker/profile/code_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "worker/profile/operands.hpp"

namespace kernelpro {
namespace {

constexpr int deepest = 8;

// Steps that the search for loops may take in all, so that no code makes it slow.
constexpr std::int64_t most_steps = 30'000'000;

struct Flow {
  std::vector<int> target;  // index of the instruction branched to; -1: none
  std::vector<bool> ends;   // control does not go on to the next
};

Flow flow_of(const std::vector<Instruction>& code) {
  Flow flow{.target = std::vector<int>(code.size(), -1), .ends = std::vector<bool>(code.size())};
  for (std::size_t i = 0; i < code.size(); ++i) {
    flow.ends[i] = ends_flow(code[i]);
    const std::optional<int> offset = branch_target(code[i]);
    if (!offset) {
      continue;
    }
    const auto found = std::lower_bound(
        code.begin(), code.end(), *offset,
        [](const Instruction& instruction, int wanted) { return instruction.offset < wanted; });
    if (found != code.end() && found->offset == *offset) {
      flow.target[i] = static_cast<int>(found - code.begin());
    }
  }
  return flow;
}

// Which of the branches back to `first` can be reached from there without leaving what lies
// between. Answers the last of them; nothing: none.
std::optional<int> last_reached(const Flow& flow, int first, const std::vector<int>& branches,
                                std::vector<int>& reached, std::int64_t& steps) {
  const int last = branches.back();
  reached[static_cast<std::size_t>(first)] = first;
  std::optional<int> result;
  auto branch = branches.begin();
  for (int i = first; i <= last; ++i) {
    ++steps;
    const auto at = static_cast<std::size_t>(i);
    const bool here = reached[at] == first;
    if (i == *branch) {
      if (here) {
        result = i;
      }
      ++branch;
    }
    if (!here) {
      continue;
    }
    if (flow.target[at] > i) {
      reached[static_cast<std::size_t>(flow.target[at])] = first;
    }
    if (!flow.ends[at] && at + 1 < reached.size()) {
      reached[at + 1] = first;
    }
  }
  return result;
}

std::vector<LoopSpan> spans_of(const Flow& flow) {
  std::map<int, std::vector<int>> branches;  // by target
  for (std::size_t i = 0; i < flow.target.size(); ++i) {
    const int target = flow.target[i];
    if (target >= 0 && target < static_cast<int>(i)) {
      branches[target].push_back(static_cast<int>(i));
    }
  }
  std::vector<LoopSpan> spans;
  std::vector<int> reached(flow.target.size(), -1);
  std::int64_t steps = 0;
  // Inner loops first: they are short, and what is left over is unlikely code.
  for (auto one = branches.rbegin(); one != branches.rend() && steps < most_steps; ++one) {
    if (const std::optional<int> last =
            last_reached(flow, one->first, one->second, reached, steps)) {
      spans.push_back({.first = one->first, .last = *last});
    }
  }
  std::sort(spans.begin(), spans.end(), [](const LoopSpan& a, const LoopSpan& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  return spans;
}

}  // namespace

CodeLoops find_loops(const std::vector<Instruction>& code) {
  CodeLoops result{.loops = {}, .innermost = std::vector<int>(code.size(), -1)};
  std::vector<int> around;  // the loops that are open, outermost first
  for (LoopSpan span : spans_of(flow_of(code))) {
    while (!around.empty() &&
           result.loops[static_cast<std::size_t>(around.back())].last < span.last) {
      around.pop_back();
    }
    if (static_cast<int>(around.size()) >= deepest) {
      continue;
    }
    span.depth = static_cast<int>(around.size()) + 1;
    span.parent = around.empty() ? -1 : around.back();
    const int index = static_cast<int>(result.loops.size());
    around.push_back(index);
    result.loops.push_back(span);
    std::fill(result.innermost.begin() + span.first, result.innermost.begin() + span.last + 1,
              index);
  }
  return result;
}

}  // namespace kernelpro
