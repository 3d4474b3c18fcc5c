// What is seen in a source, without a compiler: candidates of models need not be parsable.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "common/model/tunables.hpp"
#include "coordinator/memory/traits.hpp"
#include "coordinator/propose/candidate_key.hpp"

namespace kernelpro::memory {

namespace {

using std::string_view;

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// The words and marks of a text, but for lines of the preprocessor: `omp parallel for` is no loop.
std::vector<string_view> tokens_of(string_view text) {
  std::vector<string_view> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    std::size_t end = at + 1;
    if (is_word(text[at])) {
      while (end < text.size() && is_word(text[end])) {
        ++end;
      }
    }
    if (std::isspace(static_cast<unsigned char>(text[at])) == 0) {
      tokens.push_back(text.substr(at, end - at));
    }
    at = end;
  }
  return tokens;
}

struct Seen {
  int depth = 0;          // of loops in loops
  bool branches = false;  // in a loop
  bool indirect = false;  // an index that is read by an index
};

// Loops by their braces: a loop without braces ends with its statement.
class LoopReader {
 public:
  void take(string_view token) {
    if (token == "for" || token == "while") {
      open_.push_back({braces_, parentheses_, false});
      seen_.depth = std::max(seen_.depth, static_cast<int>(open_.size()));
    } else if (token == "if" || token == "?") {
      seen_.branches = seen_.branches || !open_.empty();
    } else if (token == "(" || token == ")") {
      parentheses_ += token == "(" ? 1 : -1;
    } else if (token == "[" || token == "]") {
      subscripts_ = std::max(0, subscripts_ + (token == "[" ? 1 : -1));
      seen_.indirect = seen_.indirect || subscripts_ > 1;
    } else if (token == "{") {
      ++braces_;
      for (Open& one : open_) {
        one.in_braces = one.in_braces || braces_ == one.braces + 1;
      }
    } else if (token == "}") {
      --braces_;
      end_loops();
    } else if (token == ";" && !open_.empty() && parentheses_ == open_.back().parentheses) {
      end_plain_loops();
    }
  }
  [[nodiscard]] const Seen& seen() const { return seen_; }

 private:
  struct Open {
    int braces;
    int parentheses;
    bool in_braces;
  };
  void end_loops() {
    while (!open_.empty() && open_.back().braces >= braces_ && open_.back().in_braces) {
      open_.pop_back();
      end_plain_loops();
    }
  }
  void end_plain_loops() {
    while (!open_.empty() && !open_.back().in_braces && open_.back().braces == braces_) {
      open_.pop_back();
    }
  }

  std::vector<Open> open_;
  int braces_ = 0;
  int parentheses_ = 0;
  int subscripts_ = 0;
  Seen seen_;
};

template <std::size_t N>
bool has_any(const std::string& text, const std::array<string_view, N>& words) {
  return std::ranges::any_of(
      words, [&text](string_view word) { return text.find(word) != std::string::npos; });
}

bool has_option(const Candidate& candidate, const std::string& option) {
  return std::ranges::find(candidate.options, option) != candidate.options.end();
}

double level_of(const Candidate& candidate) {
  double level = 2;  // what compilers of workers are given where nothing is said
  for (const std::string& option : candidate.options) {
    if (option.starts_with("-O")) {
      const std::size_t known = std::string("012").find(option.substr(2));
      level = known < 3 && option.size() == 3 ? static_cast<double>(known) : 3;
    }
  }
  return level;
}

}  // namespace

const std::vector<TraitKind>& code_trait_kinds() {
  static const std::vector<TraitKind> kinds = {
      {"depth", 2, 0.3},     {"branches", 1, 0.2},     {"indirect", 1, 0.2}, {"math", 1, 0.2},
      {"parallel", 1, 0.7},  {"vectors", 1, 0.4},      {"tunables", 2, 0.4}, {"target", 1, 0.7},
      {"fast_math", 1, 0.2}, {"level", 2, 0.3},        {"clang", 1, 0.1},    {"headroom", 2, 0.4},
      {"shared", 1, 0.3},    {"tensor_cores", 1, 0.4}, {"atomics", 1, 0.3},  {"barriers", 1, 0.2}};
  return kinds;
}

Traits code_traits(const Candidate& candidate, const Diagnosis& diagnosis) {
  constexpr std::array<string_view, 8> math = {"exp(",  "log(",  "sqrt(", "tanh(",
                                               "expf(", "logf(", "pow(",  "erf("};
  constexpr std::array<string_view, 6> vectors = {"omp simd",    "vector_size", "float4",
                                                  "immintrin.h", "arm_neon.h",  "ivdep"};
  constexpr std::array<string_view, 4> tensor = {"mma.sync", "wmma", "wgmma", "mma_"};
  constexpr std::array<string_view, 2> barriers = {"__syncthreads", "mbarrier"};
  const std::string text = normalized_source(candidate.source);
  LoopReader reader;
  for (const string_view token : tokens_of(text)) {
    reader.take(token);
  }
  Traits traits;
  traits["depth"] = reader.seen().depth;
  traits["branches"] = reader.seen().branches ? 1 : 0;
  traits["indirect"] = reader.seen().indirect ? 1 : 0;
  traits["math"] = has_any(text, math) ? 1 : 0;
  traits["vectors"] = has_any(text, vectors) ? 1 : 0;
  const Result<std::vector<Tunable>> tunables = parse_tunables(candidate.source);
  traits["tunables"] =
      tunables ? std::round(std::log2(1 + static_cast<double>(tunables->size()))) : 0;
  if (diagnosis.share_of_bound > 0) {
    traits["headroom"] = std::round(-std::log2(diagnosis.share_of_bound));
  }
  traits["fast_math"] =
      has_option(candidate, "-ffast-math") || has_option(candidate, "--use_fast_math") ? 1 : 0;
  if (traits_of(candidate.backend).gpu) {
    traits["shared"] = text.find("__shared__") != std::string::npos ? 1 : 0;
    traits["tensor_cores"] = has_any(text, tensor) ? 1 : 0;
    traits["atomics"] = text.find("atomic") != std::string::npos ? 1 : 0;
    traits["barriers"] = has_any(text, barriers) ? 1 : 0;
    return traits;
  }
  traits["parallel"] =
      has_option(candidate, "openmp") && text.find("omp parallel") != std::string::npos ? 1 : 0;
  traits["target"] = has_option(candidate, "target") ? 1 : 0;
  traits["level"] = level_of(candidate);
  traits["clang"] = candidate.compiler.find("clang") != std::string::npos ? 1 : 0;
  return traits;
}

}  // namespace kernelpro::memory
