#include "worker/diagnose/tools/accesses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace kernelpro {

namespace {

constexpr std::size_t most_places = 3;

using Line = std::pair<std::string, int>;

Line line_of(const SourcePlace& place) {
  return {place.file, place.line};
}

// The loads from global memory in one loop, or outside of all.
struct Sizes {
  double count = 0;  // instructions
  double requests = 0;
  double sectors = 0;
  double most = 0;  // sectors a request of the largest
  SourcePlace place;

  // A request's size on average, of the largest; 1 where sectors were not counted.
  [[nodiscard]] double evenness() const {
    return most > 0 && requests > 0 ? sectors / (requests * most) : 1;
  }
};

Sizes sizes_in(const CodeFacts& code, int loop) {
  Sizes sizes;
  for (const MemoryInstruction& load : code.memory) {
    const double executed = load.executed.value_or(0);
    if (load.space != Space::global || load.access != Access::load || load.loop != loop ||
        executed <= 0) {
      continue;
    }
    ++sizes.count;
    sizes.requests += executed;
    sizes.sectors += load.sectors.value_or(0);
    sizes.most = std::max(sizes.most, load.sectors.value_or(0) / executed);
    sizes.place = load.place;
  }
  return sizes;
}

}  // namespace

bool is_one_of(Access access, std::initializer_list<Access> list) {
  return std::find(list.begin(), list.end(), access) != list.end();
}

bool is_shared(const MemoryInstruction& instruction) {
  return instruction.space == Space::shared;
}

bool is_far(const MemoryInstruction& instruction) {
  return instruction.space == Space::global || instruction.space == Space::local;
}

double amount(const CodeFacts& code, const char* kind) {
  const auto found = code.mix.find(kind);
  return found == code.mix.end() ? 0 : found->second;
}

double requests(const CodeFacts& code, const Which& which) {
  double sum = 0;
  for (const MemoryInstruction& instruction : code.memory) {
    if (which(instruction)) {
      sum += instruction.executed.value_or(0);
    }
  }
  return sum;
}

double l1_turns_of(const MemoryInstruction& instruction) {
  const double executed = instruction.executed.value_or(0);
  switch (instruction.space) {
    case Space::constant:
      return 0;
    case Space::shared:
      return std::max(executed, instruction.wavefronts.value_or(0));
    case Space::local:
      return executed * std::max(1.0, instruction.bits / 32.0);
    default:
      return std::max(executed, instruction.sectors.value_or(0) / sectors_a_turn);
  }
}

double l1_turns(const CodeFacts& code, const Which& which) {
  double sum = 0;
  for (const MemoryInstruction& instruction : code.memory) {
    sum += which(instruction) ? l1_turns_of(instruction) : 0;
  }
  return sum;
}

LoadsInFlight hottest_loads(const CodeFacts& code) {
  const Sizes outside = sizes_in(code, -1);
  LoadsInFlight hottest{outside.count * outside.evenness(), outside.count, false, outside.requests,
                        outside.place};
  for (std::size_t i = 0; i < code.loops.size(); ++i) {
    const CodeLoop& loop = code.loops[i];
    const double weight = loop.executed.value_or(0) * loop.global_loads;
    if (loop.global_loads > 0 && weight > hottest.weight) {
      const double evenness = sizes_in(code, static_cast<int>(i)).evenness();
      const double together = std::max(1, loop.loads_in_flight);
      hottest = {std::max(1.0, together * evenness), together, true, weight, loop.place};
    }
  }
  return hottest;
}

bool is_matrix_pipeline(const KernelProfile& kernel) {
  if (!kernel.code) {
    return false;
  }
  const auto has = [&kernel](const char* kind) { return amount(*kernel.code, kind) > 0; };
  return (has("hmma") || has("imma") || has("dmma") || has("hgmma") || has("igmma") ||
          has("qgmma")) &&
         (has("cp_async") || has("tma_load") || has("bulk_copy"));
}

std::vector<SourcePlace> top_places(const Weighed& weighed) {
  std::map<Line, double> by_line;
  for (const auto& [weight, place] : weighed) {
    if (place.line > 0 && weight > 0) {
      by_line[line_of(place)] += weight;
    }
  }
  std::vector<std::pair<Line, double>> lines(by_line.begin(), by_line.end());
  std::sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<SourcePlace> places;
  for (const auto& [line, weight] : lines) {
    if (places.size() < most_places) {
      places.push_back({line.first, line.second});
    }
  }
  return places;
}

std::vector<SourcePlace> top_stalled_places(const KernelProfile& kernel,
                                            std::initializer_list<std::string_view> reasons) {
  Weighed weighed;
  for (const HotLine& line : kernel.lines) {
    double samples = 0;
    for (const std::string_view reason : reasons) {
      const auto found = line.stalls.find(std::string(reason));
      samples += found == line.stalls.end() ? 0 : found->second;
    }
    weighed.emplace_back(samples, line.place);
  }
  return top_places(weighed);
}

double sample_share_at(const KernelProfile& kernel, const CodeFacts& code, const Which& which) {
  std::set<Line> lines;
  double at_instructions = 0;
  for (const MemoryInstruction& instruction : code.memory) {
    if (which(instruction)) {
      at_instructions += instruction.samples.value_or(0);
      lines.insert(line_of(instruction.place));
    }
  }
  double at_lines = 0;
  for (const HotLine& line : kernel.lines) {
    if (line.place.line > 0 && lines.contains(line_of(line.place))) {
      at_lines += line.samples;
    }
  }
  double all = 0;
  for (const auto& [reason, samples] : kernel.stalls) {
    all += samples;
  }
  return all > 0 ? std::min(1.0, std::max(at_instructions, at_lines) / all) : 0;
}

}  // namespace kernelpro
