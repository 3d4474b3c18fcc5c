// The candidates that try to cheat, each with what is expected of the judge.
#pragma once

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/model/candidate.hpp"
#include "common/model/verdict.hpp"

namespace kernelpro {

// A source under candidates/, read from its `// kp:` lines:
//   kp:hack NUMBER  TITLE        the way of cheating, or `bad-input`, or `honest`
//   kp:task NAME                 axpy without
//   kp:expect OUTCOMES [RULES]   sets joined by |; `not-faster` is a rule for `passed`
//   kp:rounds-above N [AXIS=SIZE]
//                                it cheats only in rounds of more calls, of shapes with such a size
//                                or a greater one; a busy machine may have none
//   kp:options, kp:compiler      how it is built
//   kp:allow PRECISION           what --allow-precision says
//   kp:against FILE              the honest one it is compared with; the task's baseline without
//   kp:twin FILE                 honest ones: the cheat they must not be confused with
// What several of them share is a .hpp beside them.
struct HackCandidate {
  std::string file;
  std::string number;
  std::string title;
  std::string task = "axpy";
  std::vector<std::string> outcomes;
  std::vector<std::string> rules;
  bool not_faster = false;
  int rounds_above = 0;
  std::string rounds_axis;  // empty: at any shape
  std::int64_t rounds_size = 0;
  std::string against;
  std::string twin;
  std::vector<std::string> allow_precision;
  Candidate candidate;

  [[nodiscard]] bool honest() const { return number == "honest"; }
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

inline bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

inline void read_expectation(const std::string& text, HackCandidate& hack) {
  const std::vector<std::string> words = split(text, ' ');
  hack.outcomes = words.empty() ? words : split(words[0], '|');
  hack.rules = words.size() > 1 ? split(words[1], '|') : std::vector<std::string>();
  hack.not_faster = std::erase(hack.rules, "not-faster") > 0;
}

// `source` with each line #include "NAME" replaced by that file of the folder, where the name ends
// so: a candidate is one source.
inline std::string with_includes(const std::string& source, const std::filesystem::path& folder,
                                 const std::string& ending) {
  static const std::string begin = "#include \"";
  std::string out;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line); out += "\n") {
    if (line.starts_with(begin) && line.ends_with(ending + "\"")) {
      const std::string name = line.substr(begin.size(), line.size() - begin.size() - 1);
      const Result<std::string> text = read_file(folder / name);
      out += text ? with_includes(*text, folder, ending) : "#error \"" + text.error().text() + "\"";
    } else {
      out += line;
    }
  }
  return out;
}

inline HackCandidate parse_hack(const std::string& file, const std::string& source) {
  HackCandidate hack;
  hack.file = file;
  hack.candidate.name = std::filesystem::path(file).stem().string();
  hack.candidate.source = source;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line) && line.starts_with("// kp:");) {
    const std::size_t space = line.find(' ', 6);
    const std::string key = line.substr(6, space - 6);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "hack") {
      hack.number = value.substr(0, value.find(' '));
      hack.title =
          value.substr(std::min(value.size(), value.find_first_not_of(' ', hack.number.size())));
    } else if (key == "task") {
      hack.task = value;
    } else if (key == "expect") {
      read_expectation(value, hack);
    } else if (key == "rounds-above") {
      std::from_chars(value.data(), value.data() + value.size(), hack.rounds_above);
      if (const std::size_t equals = value.find('='); equals != std::string::npos) {
        const std::size_t name = value.rfind(' ', equals) + 1;
        hack.rounds_axis = value.substr(name, equals - name);
        std::from_chars(value.data() + equals + 1, value.data() + value.size(), hack.rounds_size);
      }
    } else if (key == "options") {
      hack.candidate.options = split(value, ' ');
    } else if (key == "compiler") {
      hack.candidate.compiler = value;
    } else if (key == "against") {
      hack.against = value;
    } else if (key == "twin") {
      hack.twin = value;
    } else if (key == "allow") {
      hack.allow_precision = split(value, ' ');
    }
  }
  return hack;
}

// By number, bad input and honest ones last.
inline int rank_of(const HackCandidate& hack) {
  int number = hack.honest() ? 101 : 100;
  std::from_chars(hack.number.data(), hack.number.data() + hack.number.size(), number);
  return number;
}

inline const std::filesystem::path& hacks_folder() {
  static const std::filesystem::path folder =
      std::filesystem::path(KERNELPRO_SOURCE_DIR) / "tests" / "hacks";
  return folder;
}

// All of them, by number and file.
inline std::vector<HackCandidate> read_hacks() {
  std::vector<HackCandidate> hacks;
  for (const auto& entry : std::filesystem::directory_iterator(hacks_folder() / "candidates")) {
    const Result<std::string> source = read_file(entry.path());
    if (source && entry.path().extension() == ".cpp") {
      HackCandidate hack = parse_hack(entry.path().filename().string(), *source);
      hack.candidate.source = with_includes(*source, entry.path().parent_path(), ".hpp");
      hacks.push_back(std::move(hack));
    }
  }
  std::sort(hacks.begin(), hacks.end(), [](const HackCandidate& a, const HackCandidate& b) {
    return std::pair(rank_of(a), a.file) < std::pair(rank_of(b), b.file);
  });
  return hacks;
}

inline bool names_a_rule(Outcome outcome) {
  return outcome == Outcome::cheated || outcome == Outcome::incorrect ||
         outcome == Outcome::crashed || outcome == Outcome::launch_failed;
}

// The baseline's loop in another file gains this much at most by where its code comes to lie: 1.13
// was measured on a Neoverse N1, between a loop inside a 32-byte line and one across two. Who fools
// a clock gains more.
inline constexpr double gain_by_layout = 1.25;

inline bool meets_expectation(const HackCandidate& hack, const Verdict& verdict) {
  if (!contains(hack.outcomes, std::string(name_of(verdict.outcome)))) {
    return false;
  }
  if (verdict.outcome == Outcome::passed) {
    return !hack.not_faster || verdict.timing.comparison != Comparison::faster ||
           verdict.timing.speedup < gain_by_layout;
  }
  return hack.rules.empty() || !names_a_rule(verdict.outcome) || contains(hack.rules, verdict.rule);
}

inline std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : "|") + part;
  }
  return text;
}

inline std::string expected_text(const HackCandidate& hack) {
  std::vector<std::string> rules = hack.rules;
  if (hack.not_faster) {
    rules.emplace_back("not-faster");
  }
  return join(hack.outcomes) + (rules.empty() ? "" : " " + join(rules));
}

inline std::string verdict_text(const Verdict& verdict) {
  std::string text(name_of(verdict.outcome));
  if (!verdict.rule.empty()) {
    text += " " + verdict.rule;
  }
  if (verdict.outcome == Outcome::passed) {
    text += " " + std::string(name_of(verdict.timing.comparison));
  }
  return text;
}

}  // namespace kernelpro
