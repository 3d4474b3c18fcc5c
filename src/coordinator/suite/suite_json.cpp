#include "coordinator/suite/suite_json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/wire/values.hpp"

namespace kernelpro {

namespace {

using Times = std::map<std::string, std::vector<double>>;

// Of the times that were read last.
void expect_positive(const Form& form, const Times& times) {
  const auto positive = [](double time) { return std::isfinite(time) && time > 0; };
  for (const auto& [mode, place] : form.last().members()) {
    if (!std::ranges::all_of(times.at(mode), positive)) {
      place.complain("holds a time that is not a positive number");
    }
  }
}

}  // namespace

void describe(Form& form, SuiteHeader& header) {
  form("kernelbench_suite", header.version);
  if (header.version != 1) {
    form.whole().complain("is of version " + std::to_string(header.version) +
                          " of the format; this program knows 1");
  }
  KP_FIELDS(form, header, program_version, date, machine, backend, torch, kernelbench, conditions);
}

KP_DESCRIBE(SuiteCandidate, source_hash, allow_precision, outcome, rule, summary, precision,
            suspect, verified, time_ns, speedup, speedup_interval, noise_floor, share_of_bound)

void describe(Form& form, SuiteRecord& record) {
  form("level", record.problem.level);
  form("problem", record.problem.number);
  if (record.problem.level < 1 || record.problem.number < 1) {
    form.last().complain("level and problem count from 1");
  }
  KP_FIELDS(form, record, name, problem_hash, date);
  KP_FIELDS(form.nonempty, record, refused, failed);
  KP_FIELDS(form, record, degenerate, times);
  expect_positive(form, record.times);
  form("untimed", record.untimed);
  form.maybe("candidate", record.candidate);
  form.embedded("described", record.described);
}

void describe(Form& form, SurveyAnswer& answer) {
  form("problem", answer.problem);
  KP_FIELDS(form.nonempty, answer, device, refused, degenerate, times);
  expect_positive(form, answer.times);
  form.nonempty("failed", answer.failed);
  form.embedded("described", answer.described);
  form.pass_over_others();
}

KP_JSON_OF(SuiteHeader, suite_header_from_json)
KP_JSON_OF(SuiteRecord, suite_record_from_json)

Result<SurveyAnswer> survey_answer_from_json(const nlohmann::json& json) {
  return wire::read_whole<SurveyAnswer>(json);
}

}  // namespace kernelpro
