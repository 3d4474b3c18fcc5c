#include "coordinator/propose/agents/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/model/enum_names.hpp"
#include "common/wire/json.hpp"
#include "common/wire/reader.hpp"
#include "coordinator/propose/agents/code_blocks.hpp"
#include "coordinator/propose/agents/text.hpp"
#include "coordinator/propose/candidate_key.hpp"
#include "coordinator/propose/source_header.hpp"

namespace kernelpro::agents {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 9> mishap_names = {
    "truncated",   "refusal",        "no JSON",      "unusable JSON", "no code",
    "two sources", "wrong language", "no kp_launch", "unchanged"};
static_assert(mishap_names.size() == static_cast<std::size_t>(MishapKind::unchanged) + 1);

constexpr std::size_t longest_move = 64;

constexpr const char* plan_form =
    "{\"move\": snake_case id, \"plan\": text, \"predicted_gain\": number, \"why\": text} and, if "
    "you like, \"risks\": text";
constexpr const char* review_form =
    "{\"follows_plan\": true or false, \"honest\": true or false, \"objections\": [text, …]}";

// Whatever the wanted answer is, these two are none.
std::optional<Mishap> cut_or_refused(const ChatAnswer& answer) {
  if (answer.stop == StopReason::length) {
    return Mishap{
        MishapKind::truncated,
        "Your answer was cut: it was longer than an answer may be. Answer again, shorter: "
        "no deliberation in the text, only what was asked for."};
  }
  if (answer.stop == StopReason::refusal) {
    return Mishap{
        MishapKind::refusal,
        "You refused. Nothing here is harmful: the program makes a numerical kernel faster "
        "and checks it. Please answer as asked."};
  }
  return std::nullopt;
}

std::string required_text(wire::Fields& fields, const std::string& key) {
  const wire::Place place = fields.at(key);
  std::string text = trimmed(place.text());
  if (text.empty()) {
    place.complain("found an empty text, expected a sentence or more");
  }
  return text;
}

bool is_snake_case(std::string_view text) {
  return !text.empty() && text.size() <= longest_move && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

Plan plan_from(const wire::Place& place) {
  wire::Fields fields(place);
  Plan plan;
  const wire::Place move = fields.at("move");
  plan.move = move.text();
  if (!is_snake_case(plan.move)) {
    move.complain_expected(
        fmt::format("an id of at most {} small letters, digits and _", longest_move));
  }
  plan.plan = required_text(fields, "plan");
  plan.predicted_gain = fields.at("predicted_gain").finite();
  plan.why = required_text(fields, "why");
  if (const std::optional<wire::Place> risks = fields.maybe("risks")) {
    plan.risks = trimmed(risks->text());
  }
  fields.end();
  return plan;
}

Review review_from(const wire::Place& place) {
  wire::Fields fields(place);
  Review review;
  review.follows_plan = fields.at("follows_plan").truth();
  review.honest = fields.at("honest").truth();
  review.objections = fields.at("objections").texts();
  fields.end();
  return review;
}

// Where the object that begins at `open` ends, behind its last brace; npos: it does not.
std::size_t end_of_object(const std::string& text, std::size_t open) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string::npos;
}

// Every object of the text that is not inside another, as text. An answer in C++ is full of braces:
// what holds no key is none.
std::vector<std::string> objects_of(const std::string& text) {
  constexpr std::size_t most = 1000;
  std::vector<std::string> out;
  std::size_t looked = 0;
  for (std::size_t at = text.find('{'); at != std::string::npos && looked < most; ++looked) {
    const std::size_t end = end_of_object(text, at);
    const std::size_t inside = text.find_first_not_of(" \t\r\n", at + 1);
    const bool is_object = end != std::string::npos && inside < end && text[inside] == '"';
    if (is_object) {
      out.push_back(text.substr(at, end - at));
    }
    at = text.find('{', is_object ? end : at + 1);
  }
  return out;
}

template <typename T, typename From>
Read<T> read_json(const ChatAnswer& answer, From from, const char* form) {
  if (const std::optional<Mishap> mishap = cut_or_refused(answer)) {
    return *mishap;
  }
  const std::vector<std::string> objects = objects_of(answer.text);
  if (objects.empty()) {
    return Mishap{MishapKind::no_json,
                  fmt::format("There is no JSON object in your answer. Expected is {}.", form)};
  }
  std::optional<T> last;
  std::string wrong;
  for (const std::string& text : objects) {
    const Result<json> parsed = parse_json(text);
    if (!parsed) {
      wrong = parsed.error().text();
      continue;
    }
    Result<T> value = wire::read_document(*parsed, from);
    if (value) {
      last = std::move(*value);
    } else {
      wrong = value.error().text();
    }
  }
  if (last) {
    return std::move(*last);
  }
  return Mishap{MishapKind::bad_json,
                fmt::format("The JSON in your answer cannot be used: {}. Expected is {}, with no "
                            "other keys.",
                            wrong, form)};
}

bool is_python(const CodeBlock& block) {
  constexpr auto names = std::to_array<std::string_view>({"python", "py", "python3", "triton"});
  if (std::find(names.begin(), names.end(), block.language) != names.end()) {
    return true;
  }
  if (block.text.find("#include") != std::string::npos) {
    return false;
  }
  const std::vector<std::string> lines = lines_of(block.text);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("import ") || line.starts_with("from ") || line.starts_with("def ") ||
           line.starts_with("@triton");
  });
}

bool is_cuda(const CodeBlock& block) {
  return block.text.find("__global__") != std::string::npos ||
         block.text.find("<<<") != std::string::npos;
}

bool is_wrong_language(const CodeBlock& block, std::string_view backend) {
  return is_python(block) || (backend == "cpu" && is_cuda(block));
}

// kp_launch followed by what it takes, outside of comments.
bool defines_launch(const std::string& source) {
  constexpr std::string_view name = "kp_launch";
  const std::string code = normalized_source(source);
  for (std::size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    const std::size_t next = code.find_first_not_of(' ', at + name.size());
    if (next != std::string::npos && code[next] == '(') {
      return true;
    }
  }
  return false;
}

Candidate candidate_from(const std::string& source, const Candidate& otherwise) {
  const SourceHeader header = read_source_header(source);
  Candidate candidate = otherwise;
  candidate.source = source;
  if (!header.compiler.empty() && header.compiler != otherwise.compiler) {
    candidate.compiler = header.compiler;
    candidate.options.clear();
  }
  if (!header.options.empty()) {
    candidate.options = header.options;
  }
  return candidate;
}

Mishap without_launch(const std::vector<CodeBlock>& blocks, const std::string& backend) {
  const std::string_view language = language_of(backend);
  const bool wrong = std::any_of(blocks.begin(), blocks.end(), [&backend](const CodeBlock& block) {
    return is_wrong_language(block, backend);
  });
  if (wrong) {
    return {MishapKind::wrong_language,
            fmt::format("That is the wrong language. Expected is one complete {} source in a block "
                        "that begins with ```{}.",
                        language == "cuda" ? "CUDA C++" : "C++", language)};
  }
  return {MishapKind::no_kp_launch,
          "The code does not define kp_launch. Expected is the complete source, with "
          "#include \"kernelpro/candidate.h\" and int kp_launch(const kp_context*, const "
          "kp_tensor*, int32_t)."};
}

}  // namespace

std::string_view name_of(MishapKind kind) {
  return enum_name(mishap_names, kind);
}

std::string_view language_of(std::string_view backend) {
  return backend == "cuda" ? "cuda" : "cpp";
}

Read<Plan> read_plan(const ChatAnswer& answer) {
  return read_json<Plan>(answer, plan_from, plan_form);
}

Read<Review> read_review(const ChatAnswer& answer) {
  return read_json<Review>(answer, review_from, review_form);
}

Read<Candidate> read_source(const ChatAnswer& answer, const Candidate& parent,
                            const Candidate& otherwise) {
  if (const std::optional<Mishap> mishap = cut_or_refused(answer)) {
    return *mishap;
  }
  const std::vector<CodeBlock> blocks = code_blocks(answer.text);
  if (blocks.empty()) {
    return Mishap{MishapKind::no_code,
                  fmt::format("There is no code in your answer. Expected is one complete source in "
                              "a block that begins with ```{}.",
                              language_of(otherwise.backend))};
  }
  std::vector<const CodeBlock*> sources;
  for (const CodeBlock& block : blocks) {
    if (defines_launch(block.text) && !is_wrong_language(block, otherwise.backend)) {
      sources.push_back(&block);
    }
  }
  if (sources.empty()) {
    return without_launch(blocks, otherwise.backend);
  }
  if (sources.size() > 1) {
    return Mishap{
        MishapKind::two_sources,
        fmt::format("{} of your code blocks define kp_launch, and only one can be judged. "
                    "Answer with the one complete source that you mean.",
                    sources.size())};
  }
  Candidate candidate = candidate_from(sources.front()->text, otherwise);
  if (candidate_key(candidate) == candidate_key(parent)) {
    return Mishap{MishapKind::unchanged,
                  "The source is the parent's, unchanged but for comments and blanks. Make the "
                  "change that was planned."};
  }
  return candidate;
}

}  // namespace kernelpro::agents
