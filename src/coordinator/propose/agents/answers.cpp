#include "coordinator/propose/agents/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <utility>

#include "common/model/enum_names.hpp"
#include "common/model/pasted_headers.hpp"
#include "common/wire/form.hpp"
#include "common/wire/json.hpp"
#include "coordinator/llm/token_count.hpp"
#include "coordinator/propose/agents/code_blocks.hpp"
#include "coordinator/propose/agents/code_kinds.hpp"
#include "coordinator/propose/agents/json_objects.hpp"
#include "coordinator/propose/agents/text.hpp"
#include "coordinator/propose/candidate_key.hpp"
#include "coordinator/propose/source_header.hpp"

namespace kernelpro::agents {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 10> mishap_names = {
    "truncated",   "refusal",        "no JSON",      "unusable JSON", "no code",
    "two sources", "wrong language", "no kp_launch", "unchanged",     "too long"};
static_assert(mishap_names.size() == static_cast<std::size_t>(MishapKind::too_long) + 1);

constexpr std::size_t longest_move = 64;
// Of what other models are shown: each text of a plan, all objections of a review.
constexpr std::size_t longest_prose = 8000;
constexpr std::size_t longest_complaint = 1000;  // it can name keys of any length

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

// Models that think aloud say what they mean behind their thoughts, which are full of drafts.
std::string said_at_last(const ChatAnswer& answer) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  constexpr std::string_view end_of_thoughts = "</think>";
  const std::size_t at = answer.text.rfind(end_of_thoughts);
  std::string said = at == std::string::npos ? "" : answer.text.substr(at + end_of_thoughts.size());
  said = trimmed(said).empty() ? answer.text : said;
  return said.starts_with(byte_order_mark) ? said.substr(byte_order_mark.size()) : said;
}

// Of the last text of a form.
void bound_text(const Form& form, std::size_t bytes) {
  if (bytes > longest_prose) {
    form.last().complain(
        fmt::format("found {} bytes of text, expected at most {}", bytes, longest_prose));
  }
}

void take_text(Form& form, const char* key, std::string& text) {
  form(key, text);
  text = trimmed(text);
  bound_text(form, text.size());
}

void take_sentence(Form& form, const char* key, std::string& text) {
  take_text(form, key, text);
  if (text.empty()) {
    form.last().complain("found an empty text, expected a sentence or more");
  }
}

bool is_snake_case(std::string_view text) {
  return !text.empty() && text.size() <= longest_move && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

void describe(Form& form, Plan& plan) {
  form("move", plan.move);
  form.expect(is_snake_case(plan.move),
              fmt::format("an id of at most {} small letters, digits and _", longest_move));
  take_sentence(form, "plan", plan.plan);
  form.finite("predicted_gain", plan.predicted_gain);
  take_sentence(form, "why", plan.why);
  if (form.has("risks")) {
    take_text(form, "risks", plan.risks);
  }
}

void describe(Form& form, Review& review) {
  KP_FIELDS(form, review, follows_plan, honest, objections);
  std::size_t bytes = 0;
  for (const std::string& objection : review.objections) {
    bytes += objection.size();
  }
  bound_text(form, bytes);
}

namespace {

template <typename T>
Read<T> read_json(const ChatAnswer& answer, const char* form) {
  if (const std::optional<Mishap> mishap = cut_or_refused(answer)) {
    return *mishap;
  }
  const std::vector<std::string> objects = json_objects(said_at_last(answer));
  if (objects.empty()) {
    return Mishap{MishapKind::no_json,
                  fmt::format("There is no JSON object in your answer. Expected is {}.", form)};
  }
  std::string wrong;  // with the last of them
  for (const std::string& text : std::views::reverse(objects)) {
    const Result<json> parsed = parse_json(text);
    Result<T> value = parsed ? wire::read_whole<T>(*parsed) : Result<T>(parsed.error());
    if (value) {
      return std::move(*value);
    }
    wrong = wrong.empty() ? value.error().text() : wrong;
  }
  return Mishap{MishapKind::bad_json,
                fmt::format("The JSON in your answer cannot be used: {}. Expected is {}, with no "
                            "other keys.",
                            shortened(wrong, longest_complaint), form)};
}

Candidate candidate_from(const std::string& source, const Candidate& parent,
                         const Candidate& otherwise) {
  Candidate candidate = otherwise;
  candidate.source = with_header_first(with_pasted(source, parent.source));
  const SourceHeader header = read_source_header(candidate.source);
  if (!header.compiler.empty() && header.compiler != otherwise.compiler) {
    candidate.compiler = header.compiler;
    candidate.options.clear();
  }
  if (header.names_options) {
    candidate.options = header.options;
  }
  return candidate;
}

Mishap without_launch(const std::vector<CodeBlock>& blocks, Backend backend) {
  const std::string_view language = traits_of(backend).language;
  if (std::any_of(blocks.begin(), blocks.end(), is_difference)) {
    return {
        MishapKind::no_kp_launch,
        fmt::format("That is only what changes. Expected is the complete source in a block that "
                    "begins with ```{}.",
                    language)};
  }
  const bool wrong = std::any_of(blocks.begin(), blocks.end(), [backend](const CodeBlock& block) {
    return is_wrong_language(block, backend);
  });
  if (wrong) {
    return {MishapKind::wrong_language,
            fmt::format("That is the wrong language. Expected is one complete {} source in a block "
                        "that begins with ```{}.",
                        traits_of(backend).language_name, language)};
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

Read<Plan> read_plan(const ChatAnswer& answer) {
  return read_json<Plan>(answer, plan_form);
}

Read<Review> read_review(const ChatAnswer& answer) {
  return read_json<Review>(answer, review_form);
}

Read<Candidate> read_source(const ChatAnswer& answer, const Candidate& parent,
                            const Candidate& otherwise, std::int64_t most_tokens) {
  if (const std::optional<Mishap> mishap = cut_or_refused(answer)) {
    return *mishap;
  }
  const std::string said = said_at_last(answer);
  std::vector<CodeBlock> blocks = code_blocks(said);
  if (blocks.empty() && is_bare_source(said)) {
    blocks.push_back({"", trimmed(said) + "\n"});
  }
  if (blocks.empty()) {
    return Mishap{MishapKind::no_code,
                  fmt::format("There is no code in your answer. Expected is one complete source in "
                              "a block that begins with ```{}.",
                              traits_of(otherwise.backend).language)};
  }
  std::vector<const CodeBlock*> sources;
  for (const CodeBlock& block : blocks) {
    if (defines_launch(block.text) && !is_difference(block) &&
        !is_wrong_language(block, otherwise.backend)) {
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
  Candidate candidate = candidate_from(sources.front()->text, parent, otherwise);
  if (const std::int64_t tokens = about_tokens(without_pasted(candidate.source));
      tokens > most_tokens) {
    return Mishap{
        MishapKind::too_long,
        fmt::format("The source has about {} tokens, and {} is the most that whoever goes "
                    "on with it can be shown. Answer with a shorter one: no tables of "
                    "values, no copies of code that a loop or a template can make.",
                    tokens, most_tokens)};
  }
  if (candidate_key(candidate) == candidate_key(parent)) {
    return Mishap{MishapKind::unchanged,
                  "The source is the parent's, unchanged but for comments and blanks. Make the "
                  "change that was planned."};
  }
  return candidate;
}

}  // namespace kernelpro::agents
