#include "coordinator/store/lesson_json.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/wire/values.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t longest_name = 80;
constexpr std::size_t longest_line = 240;
// e^20 is more than any speed-up.
constexpr double largest_gain = 20;
constexpr std::int64_t most_tries = 1'000'000'000;
constexpr double largest_trait = 1e6;

void name(Form& form, const char* key, std::string& value, bool may_be_empty = false) {
  form(key, value);
  form.expect((may_be_empty && value.empty()) || is_plain_name(value),
              "a name of up to 80 letters, digits and _ . + - : =");
}

void gain(Form& form, const char* key, double& value, double least) {
  form.finite(key, value);
  form.expect(value >= least && value <= largest_gain, "a logarithm of a gain, up to 20");
}

void traits(Form& form, const char* key, Traits& value) {
  form(key, value);
  form.expect(std::ranges::all_of(value,
                                  [](const auto& one) {
                                    return is_plain_name(one.first) && std::isfinite(one.second) &&
                                           std::fabs(one.second) <= largest_trait;
                                  }),
              "traits: finite numbers by name");
}

void share(Form& form, const char* key, double& value) {
  form.finite(key, value);
  form.expect(value >= 0 && value <= most_tries, "a number that is not negative");
}

}  // namespace

bool is_plain_name(const std::string& text) {
  constexpr std::string_view also = "_.+-:= ";
  return !text.empty() && text.size() <= longest_name &&
         std::ranges::all_of(text, [also](char letter) {
           return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                  also.find(letter) != std::string_view::npos;
         });
}

bool is_plain_line(const std::string& text) {
  return !text.empty() && text.size() <= longest_line && std::ranges::all_of(text, [](char letter) {
    return letter >= ' ' && letter <= '~' && letter != '`';
  });
}

void describe(Form& form, Tally& tally) {
  form.count("tried", tally.tried);
  form.expect(tally.tried <= most_tries, "at most 1000000000 tries");
  form.count("failed", tally.failed);
  form.expect(tally.failed <= tally.tried, "no more failures than tries");
  gain(form, "mean", tally.mean, -largest_gain);
  gain(form, "spread", tally.spread, 0);
  gain(form, "useful", tally.useful, 0);
  form.nonempty("causes", tally.causes);
  if (form.reading() && !tally.causes.empty()) {
    form.expect(std::ranges::all_of(tally.causes,
                                    [](const auto& one) {
                                      return parse_outcome(one.first).has_value() &&
                                             one.second >= 0 && one.second <= most_tries;
                                    }),
                "counts by outcome");
  }
}

void describe(Form& form, Lesson& lesson) {
  form("backend", lesson.backend);
  traits(form, "task", lesson.task);
  traits(form, "device", lesson.device);
  traits(form, "code", lesson.code);
  name(form, "bottleneck", lesson.bottleneck);
  name(form, "finding", lesson.finding, true);
  name(form, "move", lesson.move);
  name(form, "site", lesson.site, true);
  form("tally", lesson.tally);
  share(form, "confirmed", lesson.confirmed);
  share(form, "contradicted", lesson.contradicted);
  form.count("age", lesson.age);
}

void describe(Form& form, LearnedFact& fact) {
  form("backend", fact.backend);
  name(form, "architecture", fact.architecture);
  form("text", fact.text);
  form.expect(is_plain_line(fact.text), "one printable line of up to 240 bytes");
  form.count("seen", fact.seen);
  form.count("age", fact.age);
}

void describe(Form& form, Recalled& one) {
  form.count("id", one.id);
  form.finite("weight", one.weight);
  traits(form, "code", one.code);
  name(form, "bottleneck", one.bottleneck);
  name(form, "finding", one.finding, true);
  name(form, "move", one.move);
  name(form, "site", one.site, true);
  form("tally", one.tally);
}

void describe(Form& form, ToolRecord& record) {
  name(form, "tool", record.tool);
  form("class", record.kind);
  KP_FIELDS(form, record, device, fired, followed, passed, gained);
  form.finite("log_predicted", record.log_predicted);
  form.finite("log_measured", record.log_measured);
}

void describe(Form& form, Recollection& recollection) {
  KP_FIELDS(form, recollection, memory, lessons, facts);
  form.nonempty("tools", recollection.tools);
}

KP_JSON_OF(Lesson, lesson_from_json)
KP_JSON_OF(LearnedFact, fact_from_json)
KP_JSON_OF(Recollection, recollection_from_json)

}  // namespace kernelpro
