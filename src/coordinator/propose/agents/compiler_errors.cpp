#include "coordinator/propose/agents/compiler_errors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "coordinator/propose/agents/text.hpp"

namespace kernelpro::agents {

namespace {

using std::string_view;

enum class Kind { error, warning, note };

struct Said {
  Kind kind = Kind::error;
  CompilerPlace at;
};

struct Marker {
  string_view word;
  Kind kind;
};

constexpr auto markers = std::to_array<Marker>({{": error", Kind::error},
                                                {": fatal error", Kind::error},
                                                {": catastrophic error", Kind::error},
                                                {": warning", Kind::warning},
                                                {": note", Kind::note}});

// What begins the messages of the other programs of a toolchain. ptxas and nvcc put blanks before
// the colon.
constexpr auto unplaced =
    std::to_array<string_view>({"ptxas error", "ptxas fatal", "nvcc error", "nvcc fatal",
                                "nvlink error", "nvlink fatal", "error:", "fatal error:"});

std::optional<int> number_in(string_view text) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = failure == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

// "candidate.cpp:10:14", "candidate.cpp:10", "candidate.cu(10)".
std::optional<CompilerPlace> place_in(string_view text) {
  if (text.ends_with(')')) {
    const std::size_t open = text.rfind('(');
    if (open == string_view::npos) {
      return std::nullopt;
    }
    const std::optional<int> line = number_in(text.substr(open + 1, text.size() - open - 2));
    return line ? std::optional(CompilerPlace{std::string(text.substr(0, open)), *line, ""})
                : std::nullopt;
  }
  std::optional<int> line;
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t colon = text.rfind(':');
    const std::optional<int> number =
        colon == string_view::npos ? std::nullopt : number_in(text.substr(colon + 1));
    if (!number) {
      break;
    }
    line = number;
    text = text.substr(0, colon);
  }
  return line ? std::optional(CompilerPlace{std::string(text), *line, ""}) : std::nullopt;
}

// What follows the word: ": text" or " #20013-D: text".
std::optional<string_view> message_behind(string_view rest) {
  if (rest.starts_with(" #")) {
    const std::size_t colon = rest.find(':');
    rest = colon == string_view::npos ? string_view() : rest.substr(colon);
  }
  return rest.starts_with(": ") ? std::optional(rest.substr(2)) : std::nullopt;
}

std::optional<Said> placed(string_view line) {
  std::optional<Said> first;
  std::size_t where = string_view::npos;
  for (const Marker& marker : markers) {
    const std::size_t at = line.find(marker.word);
    if (at == string_view::npos || at >= where) {
      continue;
    }
    const std::optional<string_view> message = message_behind(line.substr(at + marker.word.size()));
    std::optional<CompilerPlace> place = place_in(line.substr(0, at));
    // "g++: error: …", "collect2: error: …".
    if (!place && line.substr(0, at).find(' ') == string_view::npos) {
      place = CompilerPlace{};
    }
    if (message && place) {
      place->text = *message;
      first = Said{marker.kind, *place};
      where = at;
    }
  }
  return first;
}

std::optional<Said> said_in(string_view line) {
  constexpr string_view undefined = "undefined reference to";
  if (const std::size_t at = line.find(undefined); at != string_view::npos) {
    return Said{Kind::error, {"", 0, std::string(line.substr(at))}};
  }
  for (const string_view start : unplaced) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(start) && colon != string_view::npos) {
      return Said{Kind::error, {"", 0, trimmed(std::string(line.substr(colon + 1)))}};
    }
  }
  // "ptxas candidate.ptx, line 12; error   : …"
  constexpr string_view in_ptx = "; error   : ";
  if (const std::size_t at = line.find(in_ptx);
      at != string_view::npos && line.starts_with("ptxas ")) {
    return Said{Kind::error, {"", 0, std::string(line.substr(at + in_ptx.size()))}};
  }
  return placed(line);
}

// Says nothing that another error has not said.
bool is_summary(const std::string& message) {
  constexpr auto endings =
      std::to_array<string_view>({"ld returned 1 exit status",
                                  "linker command failed with exit code 1 (use -v to see "
                                  "invocation)",
                                  "ptxas exited with status 255"});
  return std::any_of(endings.begin(), endings.end(),
                     [&message](string_view ending) { return message.ends_with(ending); });
}

// gcc, before the error: "candidate.cpp:14:53:   required from ‘…’".
std::optional<CompilerPlace> required_in(string_view line) {
  for (const string_view mark : {":   required ", ":   recursively required "}) {
    if (const std::size_t at = line.find(mark); at != string_view::npos) {
      std::optional<CompilerPlace> place = place_in(line.substr(0, at));
      if (place) {
        place->text = line.substr(at + 4);
        return place;
      }
    }
  }
  return std::nullopt;
}

// nvcc, behind the error: "instantiation of "…" at line 233 of /usr/…"; its own file has no "of".
std::optional<CompilerPlace> instantiated_in(string_view line) {
  constexpr string_view start = "instantiation of ";
  constexpr string_view at_line = " at line ";
  const std::size_t first = line.find_first_not_of(' ');
  const std::size_t at = line.rfind(at_line);
  if (first == string_view::npos || at == string_view::npos ||
      !line.substr(first).starts_with(start)) {
    return std::nullopt;
  }
  string_view rest = line.substr(at + at_line.size());
  const std::size_t of = rest.find(" of ");
  CompilerPlace place;
  place.line = number_in(rest.substr(0, of)).value_or(0);
  place.file = of == string_view::npos ? "" : std::string(rest.substr(of + 4));
  place.text = line.substr(first, at - first);
  return place;
}

bool is_caret(string_view line) {
  return !line.empty() && line.find_first_not_of(" ^~|") == string_view::npos;
}

// Reads line by line; what belongs to an error is around it.
class Reader {
 public:
  void read(const std::string& line) {
    if (std::optional<CompilerPlace> frame = required_in(line)) {
      pending_.push_back(std::move(*frame));
    } else if (std::optional<CompilerPlace> inner = instantiated_in(line)) {
      add_frame(std::move(*inner));
    } else if (std::optional<Said> said = said_in(line)) {
      take(std::move(*said));
    } else {
      take_rest(line);
    }
  }

  std::vector<CompilerError> errors;

 private:
  void add_frame(CompilerPlace frame) {
    if (!errors.empty()) {
      frame.file = frame.file.empty() ? errors.back().file : frame.file;
      errors.back().frames.push_back(std::move(frame));
    }
  }

  void take(Said said) {
    after_error_ = said.kind == Kind::error;
    if (said.kind == Kind::note && !errors.empty() && !after_warning_) {
      const bool frame = said.at.text.starts_with("in instantiation of ");
      (frame ? errors.back().frames : errors.back().notes).push_back(std::move(said.at));
    } else if (said.kind == Kind::error && !is_summary(said.at.text)) {
      CompilerError error;
      error.file = std::move(said.at.file);
      error.line = said.at.line;
      error.message = std::move(said.at.text);
      error.lines = {error.line};
      error.frames = std::move(pending_);
      errors.push_back(std::move(error));
    }
    after_warning_ = said.kind == Kind::warning || (after_warning_ && said.kind == Kind::note);
    pending_.clear();
  }

  // The code: gcc and clang show "   10 | code", nvcc the code as it is, with a caret under it;
  // operand types come between its message and the code.
  void take_rest(const std::string& line) {
    if (!after_error_ || errors.empty() || trimmed(line).empty()) {
      return;
    }
    CompilerError& error = errors.back();
    if (is_caret(line)) {
      after_error_ = false;
      return;
    }
    const std::size_t bar = line.find(" | ");
    const bool numbered = bar != std::string::npos && number_in(trimmed(line.substr(0, bar)));
    if (numbered) {
      error.code = trimmed(line.substr(bar + 3));
      after_error_ = false;
    } else if (line.starts_with("    ") && !line.starts_with("          detected")) {
      if (!error.code.empty()) {
        error.message += "; " + error.code;
      }
      error.code = trimmed(line);
    }
  }

  std::vector<CompilerPlace> pending_;
  bool after_error_ = false;
  bool after_warning_ = false;
};

std::vector<CompilerError> merged(std::vector<CompilerError> errors) {
  std::vector<CompilerError> out;
  for (CompilerError& error : errors) {
    const auto known = std::find_if(out.begin(), out.end(), [&error](const CompilerError& other) {
      return other.message == error.message && other.file == error.file;
    });
    if (known == out.end()) {
      out.push_back(std::move(error));
    } else {
      known->lines.push_back(error.line);
    }
  }
  return out;
}

}  // namespace

bool is_own_file(const std::string& file) {
  return !file.empty() && file.find('/') == std::string::npos;
}

std::vector<CompilerError> read_compiler_errors(const std::string& text) {
  Reader reader;
  for (const std::string& line : lines_of(text)) {
    reader.read(line);
  }
  return merged(std::move(reader.errors));
}

}  // namespace kernelpro::agents
