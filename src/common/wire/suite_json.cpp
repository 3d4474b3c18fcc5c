#include "common/wire/suite_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/wire/reader.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

std::string read_text(const Place& place) {
  return place.text();
}

std::vector<double> read_times(const Place& place) {
  std::vector<double> times = place.numbers();
  for (const double time : times) {
    if (!std::isfinite(time) || time <= 0) {
      place.complain("holds a time that is not a positive number");
    }
  }
  return times;
}

std::map<std::string, std::vector<double>> maybe_times(Fields& fields, const std::string& key) {
  const std::optional<Place> place = fields.maybe(key);
  return place ? place->map(read_times) : std::map<std::string, std::vector<double>>();
}

std::map<std::string, std::string> maybe_text_map(Fields& fields, const std::string& key) {
  const std::optional<Place> place = fields.maybe(key);
  return place ? place->map(read_text) : std::map<std::string, std::string>();
}

std::vector<std::string> maybe_texts(Fields& fields, const std::string& key) {
  const std::optional<Place> place = fields.maybe(key);
  return place ? place->texts() : std::vector<std::string>();
}

// The object at `key` as its own text; empty when there is none.
std::string object_text(const nlohmann::json& parent, const std::string& key) {
  const auto found = parent.find(key);
  return found != parent.end() && found->is_object() ? found->dump() : std::string();
}

SuiteHeader read_header(const Place& place) {
  Fields fields(place);
  SuiteHeader header;
  header.version = fields.at("kernelbench_suite").small_integer();
  if (header.version != 1) {
    place.complain("is of version " + std::to_string(header.version) +
                   " of the format; this program knows 1");
  }
  header.program_version = fields.at("program_version").text();
  header.date = fields.at("date").text();
  header.machine = fields.at("machine").text();
  header.backend = fields.at("backend").name(parse_backend, backend_list());
  header.torch = fields.at("torch").text();
  header.kernelbench = fields.at("kernelbench").text();
  header.conditions = fields.at("conditions").text();
  fields.end();
  return header;
}

SuiteCandidate read_suite_candidate(const Place& place) {
  Fields fields(place);
  SuiteCandidate candidate;
  candidate.source_hash = fields.at("source_hash").text();
  candidate.allow_precision = fields.at("allow_precision").texts();
  candidate.outcome = fields.at("outcome").name(parse_outcome, "a verdict's outcomes");
  candidate.rule = fields.at("rule").text();
  candidate.summary = fields.at("summary").text();
  candidate.precision = fields.at("precision").text();
  candidate.suspect = fields.at("suspect").truth();
  candidate.verified = fields.at("verified").truth();
  candidate.time_ns = fields.at("time_ns").number();
  candidate.speedup = fields.at("speedup").number();
  candidate.speedup_interval = fields.at("speedup_interval").interval();
  candidate.noise_floor = fields.at("noise_floor").number();
  candidate.share_of_bound = fields.at("share_of_bound").number();
  fields.end();
  return candidate;
}

ProblemId read_problem(Fields& fields) {
  const Place level = fields.at("level");
  const Place number = fields.at("problem");
  const ProblemId problem{level.small_integer(), number.small_integer()};
  if (problem.level < 1 || problem.number < 1) {
    number.complain("level and problem count from 1");
  }
  return problem;
}

SuiteRecord read_record(const Place& place) {
  Fields fields(place);
  SuiteRecord record;
  record.problem = read_problem(fields);
  record.name = fields.at("name").text();
  record.problem_hash = fields.at("problem_hash").text();
  record.date = fields.at("date").text();
  record.refused = maybe_text(fields, "refused");
  record.failed = maybe_text(fields, "failed");
  record.degenerate = fields.at("degenerate").texts();
  record.times = fields.at("times").map(read_times);
  record.untimed = fields.at("untimed").map(read_text);
  if (const std::optional<Place> candidate = fields.maybe("candidate")) {
    record.candidate = read_suite_candidate(*candidate);
  }
  (void)fields.maybe("described");
  fields.end();
  return record;
}

SurveyAnswer read_answer(const Place& place) {
  Fields fields(place);
  SurveyAnswer answer;
  answer.problem = fields.at("problem").text();
  answer.device = maybe_text(fields, "device");
  answer.refused = maybe_text(fields, "refused");
  answer.degenerate = maybe_texts(fields, "degenerate");
  answer.times = maybe_times(fields, "times");
  answer.failed = maybe_text_map(fields, "failed");
  return answer;
}

nlohmann::json write_times(const std::map<std::string, std::vector<double>>& times) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [mode, values] : times) {
    object[mode] = write_numbers(values);
  }
  return object;
}

nlohmann::json write_suite_candidate(const SuiteCandidate& candidate) {
  return {{"source_hash", write_text(candidate.source_hash)},
          {"allow_precision", write_texts(candidate.allow_precision)},
          {"outcome", name_of(candidate.outcome)},
          {"rule", write_text(candidate.rule)},
          {"summary", write_text(candidate.summary)},
          {"precision", write_text(candidate.precision)},
          {"suspect", candidate.suspect},
          {"verified", candidate.verified},
          {"time_ns", write_number(candidate.time_ns)},
          {"speedup", write_number(candidate.speedup)},
          {"speedup_interval", write_interval(candidate.speedup_interval)},
          {"noise_floor", write_number(candidate.noise_floor)},
          {"share_of_bound", write_number(candidate.share_of_bound)}};
}

}  // namespace

}  // namespace wire

nlohmann::json to_json(const SuiteHeader& header) {
  using namespace wire;
  return {{"kernelbench_suite", header.version},
          {"program_version", write_text(header.program_version)},
          {"date", write_text(header.date)},
          {"machine", write_text(header.machine)},
          {"backend", name_of(header.backend)},
          {"torch", write_text(header.torch)},
          {"kernelbench", write_text(header.kernelbench)},
          {"conditions", write_text(header.conditions)}};
}

nlohmann::json to_json(const SuiteRecord& record) {
  using namespace wire;
  nlohmann::json json = {
      {"level", record.problem.level},      {"problem", record.problem.number},
      {"name", write_text(record.name)},    {"problem_hash", write_text(record.problem_hash)},
      {"date", write_text(record.date)},    {"degenerate", write_texts(record.degenerate)},
      {"times", write_times(record.times)}, {"untimed", write_text_map(record.untimed)}};
  if (!record.refused.empty()) {
    json["refused"] = write_text(record.refused);
  }
  if (!record.failed.empty()) {
    json["failed"] = write_text(record.failed);
  }
  if (!record.described.empty()) {
    json["described"] = nlohmann::json::parse(record.described, nullptr, false);
  }
  if (record.candidate) {
    json["candidate"] = write_suite_candidate(*record.candidate);
  }
  return json;
}

Result<SuiteHeader> suite_header_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_header);
}

Result<SuiteRecord> suite_record_from_json(const nlohmann::json& json) {
  Result<SuiteRecord> record = wire::read_document(json, wire::read_record);
  if (record) {
    record->described = wire::object_text(json, "described");
  }
  return record;
}

Result<SurveyAnswer> survey_answer_from_json(const nlohmann::json& json) {
  Result<SurveyAnswer> answer = wire::read_document(json, wire::read_answer);
  if (answer) {
    answer->described = wire::object_text(json, "described");
  }
  return answer;
}

}  // namespace kernelpro
