#include "coordinator/propose/agents/condense.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "coordinator/propose/agents/compiler_errors.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

using std::string_view;

constexpr std::size_t longest_message = 400;
constexpr std::size_t longest_frame = 200;
constexpr std::size_t longest_line = 200;
constexpr std::size_t most_errors = 6;
constexpr std::size_t most_notes = 2;
constexpr std::size_t most_evidence = 12;
constexpr std::size_t longest_evidence = 600;

std::string place_text(const std::string& file, int line) {
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

// The line with its neighbors, marked.
std::string around(const std::vector<std::string>& source, int line) {
  std::string out;
  for (int at = std::max(1, line - 1); at <= line + 1 && at <= std::ssize(source); ++at) {
    out += fmt::format("   {} {:>4} | {}\n", at == line ? '>' : ' ', at,
                       shortened(source[static_cast<std::size_t>(at - 1)], longest_line));
  }
  return out;
}

std::string frame_text(const CompilerPlace& frame) {
  return fmt::format("   at {}: {}\n", place_text(frame.file, frame.line),
                     shortened(one_line(frame.text), longest_frame));
}

// The first and the last; of those between, the innermost in the candidate's own file.
std::string frames_text(const std::vector<CompilerPlace>& frames) {
  if (frames.empty()) {
    return "";
  }
  std::vector<std::size_t> shown = {0};
  const auto own = std::find_if(frames.begin(), frames.end(),
                                [](const CompilerPlace& frame) { return is_own_file(frame.file); });
  if (own != frames.end()) {
    shown.push_back(static_cast<std::size_t>(own - frames.begin()));
  }
  shown.push_back(frames.size() - 1);
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  std::string out = "   in a template instantiated\n";
  std::size_t next = 0;
  for (const std::size_t index : shown) {
    if (index > next) {
      out += fmt::format("   … {} between …\n", counted(index - next, "step"));
    }
    out += frame_text(frames[index]);
    next = index + 1;
  }
  return out;
}

// A note matters when it is about the candidate's own code, or says why something does not fit.
bool matters(const CompilerPlace& note) {
  constexpr auto words = std::to_array<string_view>(
      {"did you mean", "not viable", "suggested", "because", "expects", "constraint"});
  return is_own_file(note.file) ||
         std::any_of(words.begin(), words.end(), [&note](string_view word) {
           return note.text.find(word) != std::string::npos;
         });
}

std::string notes_text(const std::vector<CompilerPlace>& notes) {
  std::string out;
  std::size_t shown = 0;
  for (const CompilerPlace& note : notes) {
    if (shown < most_notes && matters(note)) {
      out += fmt::format("   note: {}: {}\n", place_text(note.file, note.line),
                         shortened(one_line(note.text), longest_frame));
      ++shown;
    }
  }
  return out;
}

std::string times_text(const CompilerError& error) {
  if (error.lines.size() < 2) {
    return "";
  }
  std::vector<int> lines = error.lines;
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.size() < 2) {
    return fmt::format(" ({} times)", error.lines.size());
  }
  constexpr std::size_t most_lines = 8;
  const bool more = lines.size() > most_lines;
  lines.resize(std::min(lines.size(), most_lines));
  return fmt::format(" ({} times: lines {}{})", error.lines.size(), fmt::join(lines, ", "),
                     more ? ", …" : "");
}

std::string error_text(const CompilerError& error, std::size_t number,
                       const std::vector<std::string>& source) {
  const std::string place = place_text(error.file, error.line);
  std::string out =
      fmt::format("{}. {}{}{}{}\n", number, place, place.empty() ? "" : ": ",
                  shortened(one_line(error.message), longest_message), times_text(error));
  if (is_own_file(error.file)) {
    out += around(source, error.line);
  } else if (!error.code.empty()) {
    out += fmt::format("   {}\n", shortened(error.code, longest_line));
  }
  out += frames_text(error.frames);
  if (!is_own_file(error.file)) {
    const auto own =
        std::find_if(error.frames.begin(), error.frames.end(),
                     [](const CompilerPlace& frame) { return is_own_file(frame.file); });
    out += own == error.frames.end() ? "" : around(source, own->line);
  }
  return out + notes_text(error.notes);
}

struct RuleMeaning {
  string_view rule;
  string_view meaning;
};

// docs/honesty.md says how each is found.
constexpr auto meanings = std::to_array<RuleMeaning>({
    {"build_option", "an option that is not allowed in // kp:options"},
    {"private_file", "the source includes a file that is not the toolchain's"},
    {"timeout", "the compiler takes too long: less unrolling, fewer instantiations"},
    {"load", "the library does not load: something is not defined, or kp_launch is missing"},
    {"status",
     "kp_launch or kp_prepare returned something else than 0: a launch was refused "
     "(threads, shared memory, grid), or it returned so itself"},
    {"prepare",
     "it has a kp_prepare, and no input of the task is constant: do that work in kp_launch"},
    {"exception", "an exception left the candidate"},
    {"signal", "it died of a signal"},
    {"exit", "it ended its process"},
    {"sandbox", "it asked the system for what no kernel needs"},
    {"channel", "it sent messages in the runner's name"},
    {"guard",
     "it read or wrote outside of a tensor or the workspace: look at index arithmetic, at "
     "tails of shapes that no tile divides, at vector accesses past the end, and at 32-bit "
     "overflow"},
    {"device",
     "the GPU reported an error: an assertion, a trap, a misaligned access, a launch that "
     "does not fit"},
    {"input_write", "it wrote to an input; inputs are read-only"},
    {"threads",
     "it used more processor time than its threads can: start no more of them than "
     "kp_context::threads says, and leave none at work between calls"},
    {"ahead", "outputs of a call that was not made have changed"},
    {"late_work",
     "the work was not done when it should have been: what runs on other threads or "
     "streams must be joined before kp_launch returns"},
    {"poison",
     "elements of an output were never written: the grid or the loops do not cover all of "
     "it, or a tail is left out. Outputs hold NaN before each call"},
    {"precision",
     "the error is that of a lower precision, which this task does not allow: "
     "accumulate in full precision, or split operands"},
    {"deterministic",
     "repeats differ in a bit, and the task demands equality: no atomics on "
     "floating sums, a fixed order"},
    {"clock", "it claims less time than passed"},
    {"bound", "it is faster than this machine can move the bytes: some work is not done"},
    {"energy", "other outputs from the same inputs: a race, or a state between calls"},
});

std::string_view meaning_of(const Verdict& verdict) {
  for (const RuleMeaning& one : meanings) {
    if (one.rule == verdict.rule) {
      return one.meaning;
    }
  }
  switch (verdict.outcome) {
    case Outcome::timed_out:
      return "it did not finish: an endless loop, a barrier that not all threads reach, a lock";
    case Outcome::out_of_memory:
      return "it asked for more memory than there is";
    case Outcome::unstable:
      return "repeats on the same inputs differ: a race, or memory that is read before it is "
             "written";
    case Outcome::incorrect:
      return "outputs differ from the reference by more than rounding explains";
    default:
      return "";
  }
}

// Seeds tell nobody anything, and options of the command line no model.
std::string without_noise(std::string text) {
  text = text.substr(0, text.find("; if that is meant, allow it with"));
  constexpr string_view seed = ", seed 0x";
  const std::size_t at = text.find(seed);
  if (at != std::string::npos) {
    const std::size_t end = text.find_first_not_of("0123456789abcdefABCDEF", at + seed.size());
    text.erase(at, std::min(end, text.size()) - at);
  }
  return text;
}

bool is_sanitizer(const std::string& text) {
  return text.find("=========") != std::string::npos;
}

// compute-sanitizer: what and where, without the host's stack; the same report once.
std::string sanitizer_text(const std::string& text) {
  std::vector<std::string> kept;
  bool in_stack = false;
  for (std::string line : lines_of(text)) {
    const std::size_t first = line.find_first_not_of('=');
    if (!line.starts_with("=========") || first == std::string::npos) {
      continue;
    }
    line = line.substr(first);
    const bool indented = line.starts_with("         ");
    in_stack = line.find("Saved host backtrace") != std::string::npos || (in_stack && indented);
    line = shortened(trimmed(line), longest_line);
    if (!in_stack && !line.empty() && std::find(kept.begin(), kept.end(), line) == kept.end()) {
      kept.push_back(line);
    }
  }
  kept.resize(std::min(kept.size(), most_evidence));
  return fmt::format("{}", fmt::join(kept, "\n  "));
}

std::string evidence_text(const Verdict& verdict) {
  std::string out;
  std::size_t shown = 0;
  for (const std::string& one : verdict.evidence) {
    if (shown++ == most_evidence) {
      out += fmt::format("- and {} more\n", verdict.evidence.size() - most_evidence);
      break;
    }
    out += fmt::format("- {}\n", is_sanitizer(one)
                                     ? sanitizer_text(one)
                                     : shortened(trimmed(without_noise(one)), longest_evidence));
  }
  return out;
}

std::string passed_text(const Verdict& verdict) {
  std::vector<std::string> passed;
  for (const CheckRecord& check : verdict.checks) {
    const std::string stage(name_of(check.stage));
    if (check.stage != verdict.stage &&
        std::find(passed.begin(), passed.end(), stage) == passed.end()) {
      passed.push_back(stage);
    }
  }
  return passed.empty() ? "" : fmt::format("It passed before: {}.\n", fmt::join(passed, ", "));
}

// What an error of that size comes from in a contract of f32, whose bounds are small.
std::string kind_of_error(const CheckRecord& check) {
  constexpr double wrong = 0x1p-5;
  constexpr double bf16 = 0x1p-9;  // the largest of many errors is some units
  constexpr double tf32 = 0x1p-13;
  if (!(check.error < wrong)) {
    return "No rounding is as large: values are wrong, or terms are missing.";
  }
  if (check.bound > tf32) {
    return "";
  }
  if (check.error > bf16) {
    return "Operands rounded once to bf16 (2^-8) err by as much, and a wrong term of a long sum.";
  }
  if (check.error > tf32) {
    return "Operands rounded once to tf32 or f16 (2^-11) err by as much: is a part of the split "
           "operands or one of their products left out, or an intermediate result kept in 16 bits?";
  }
  return "That is rounding within f32, but too much of it: a long sum in one accumulator, above "
         "all of tensor cores (add up shorter pieces in f32), a part too few of split operands "
         "(two of bf16 with three products err by 2e-5), differences of large numbers, or an "
         "approximate function.";
}

// A factor of 2 is rounding, one of 1000 is not.
std::string excess_text(const Verdict& verdict) {
  const std::optional<double> excess = excess_of(verdict);
  if (!excess) {
    return "";
  }
  const CheckRecord& check = verdict.checks.back();
  return fmt::format(
      "The error e was {:.3g}, which is {:.3g} times the bound of {:.3g}; e(baseline) was {:.3g} "
      "on these inputs ({}). {}\n",
      check.error, *excess, check.bound, check.baseline_error, check.distribution,
      kind_of_error(check));
}

std::string all_evidence(const Verdict& verdict) {
  return fmt::format("{}", fmt::join(verdict.evidence, "\n"));
}

}  // namespace

std::optional<double> excess_of(const Verdict& verdict) {
  if (verdict.outcome != Outcome::incorrect || verdict.checks.empty()) {
    return std::nullopt;
  }
  const CheckRecord& check = verdict.checks.back();
  return check.bound > 0 && check.error > check.bound ? std::optional(check.error / check.bound)
                                                      : std::nullopt;
}

std::string condense_compiler(const std::string& text, const std::string& source,
                              std::size_t most) {
  const std::vector<CompilerError> errors = read_compiler_errors(text);
  if (errors.empty()) {
    return shortened(trimmed(text), most / 2) + "\n";
  }
  const std::vector<std::string> lines = lines_of(source);
  std::string out;
  std::size_t shown = 0;
  for (; shown < std::min(errors.size(), most_errors); ++shown) {
    const std::string one = error_text(errors[shown], shown + 1, lines);
    if (shown > 0 && out.size() + one.size() > most) {
      break;
    }
    out += shortened(one, most);
  }
  if (shown < errors.size()) {
    out += fmt::format("and {}\n", counted(errors.size() - shown, "more error"));
  }
  return out;
}

std::string condense(const Verdict& verdict, const std::string& source) {
  std::string out = fmt::format("Outcome: `{}`, at the stage {}", name_of(verdict.outcome),
                                name_of(verdict.stage));
  out += verdict.rule.empty() ? ".\n" : fmt::format(", by the rule `{}`.\n", verdict.rule);
  if (verdict.outcome == Outcome::build_failed) {
    return out + "\n" + fenced("", condense_compiler(all_evidence(verdict), source)) + "\n";
  }
  out += fmt::format("{}\n", verdict.summary);
  if (const std::string_view meaning = meaning_of(verdict); !meaning.empty()) {
    out += fmt::format("What that means: {}.\n", meaning);
  }
  out += excess_text(verdict);
  const std::string evidence = evidence_text(verdict);
  out += evidence.empty() ? "" : "\n" + evidence;
  const std::string passed = passed_text(verdict);
  return out + (passed.empty() ? "" : "\n" + passed);
}

std::string error_signature(const Verdict& verdict) {
  std::string what = verdict.summary;
  if (verdict.outcome == Outcome::build_failed) {
    const std::vector<CompilerError> errors = read_compiler_errors(all_evidence(verdict));
    what = errors.empty() ? verdict.summary : errors.front().message;
  }
  std::string out = fmt::format("{} {} ", name_of(verdict.outcome), verdict.rule);
  bool in_number = false;
  for (const char c : what) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      out += c;
    } else if (!in_number) {
      out += '#';
    }
    in_number = digit;
  }
  return out;
}

}  // namespace kernelpro::agents
