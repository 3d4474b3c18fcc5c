#include "coordinator/memory/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/wire/json.hpp"
#include "coordinator/memory/traits.hpp"
#include "coordinator/store/lesson_json.hpp"

namespace kernelpro::memory {

namespace {

using nlohmann::json;

constexpr const char* format_name = "kernelpro lessons";
constexpr int format_version = 1;

Status check_header(const json& header) {
  if (!header.is_object() || !header.contains("format") || header["format"] != format_name) {
    return make_error(ErrorKind::bad_input,
                      "not a file of lessons: its first line should be {\"format\": \"kernelpro "
                      "lessons\", \"v\": 1}, as `kernelpro memory export` writes it");
  }
  const json version = header.contains("v") ? header["v"] : json();
  if (version != format_version) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("written by another kernelpro: it has version {} of lessons, "
                                  "this kernelpro {} reads version {}",
                                  version.dump(), KERNELPRO_VERSION, format_version));
  }
  return {};
}

Status check_names(const std::vector<TraitKind>& kinds, const Traits& traits) {
  for (const auto& [name, value] : traits) {
    if (std::ranges::none_of(kinds, [&name](const TraitKind& one) { return name == one.name; })) {
      return make_error(ErrorKind::bad_input, fmt::format("there is no trait \"{}\"", name));
    }
  }
  return {};
}

Status take_line(const json& line, Exchanged& out) {
  if (line.is_object() && line.size() == 1 && line.contains("lesson")) {
    KP_LET(Lesson lesson, lesson_from_json(line["lesson"]));
    KP_TRY(check_names(task_trait_kinds(), lesson.task));
    KP_TRY(check_names(device_trait_kinds(), lesson.device));
    KP_TRY(check_names(code_trait_kinds(), lesson.code));
    out.lessons.push_back(std::move(lesson));
    return {};
  }
  if (line.is_object() && line.size() == 1 && line.contains("fact")) {
    KP_LET(LearnedFact fact, fact_from_json(line["fact"]));
    out.facts.push_back(std::move(fact));
    return {};
  }
  return make_error(ErrorKind::bad_input, "expected {\"lesson\": …} or {\"fact\": …}");
}

Status take_text(const std::string& text, bool header, Exchanged& out) {
  KP_LET(const json line, parse_json(text));
  return header ? check_header(line) : take_line(line, out);
}

}  // namespace

std::string to_lines(const Exchanged& content) {
  std::string text = json{{"format", format_name}, {"v", format_version}}.dump() + "\n";
  for (const Lesson& lesson : content.lessons) {
    text += json{{"lesson", to_json(lesson)}}.dump() + "\n";
  }
  for (const LearnedFact& fact : content.facts) {
    text += json{{"fact", to_json(fact)}}.dump() + "\n";
  }
  return text;
}

Result<Exchanged> from_lines(const std::string& text, const std::string& file) {
  Exchanged out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (const Status taken = take_text(line, number == 1, out); !taken) {
      return make_error(ErrorKind::bad_input, taken.error().text(),
                        fmt::format("{}:{}", file, number));
    }
  }
  if (number == 0) {
    return make_error(ErrorKind::bad_input, "it is empty, and no file of lessons", file);
  }
  return out;
}

}  // namespace kernelpro::memory
