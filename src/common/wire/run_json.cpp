#include "common/wire/run_json.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "common/wire/llm_json.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

// Gives `target` what `read` makes of the place at `key`, if there is one.
template <typename T, typename Read>
void read_known(Fields& fields, const std::string& key, T& target, Read read) {
  if (const std::optional<Place> place = fields.maybe(key)) {
    target = read(*place);
  }
}

RunSettings read_run_settings(const Place& place) {
  const auto text = [](const Place& p) { return p.text(); };
  const auto texts = [](const Place& p) { return p.texts(); };
  const auto truth = [](const Place& p) { return p.truth(); };
  const auto number = [](const Place& p) { return p.number(); };
  const auto small_integer = [](const Place& p) { return p.small_integer(); };
  Fields fields(place);
  RunSettings settings;
  read_known(fields, "backend", settings.judging.backend,
             [](const Place& p) { return p.name(parse_backend, backend_list()); });
  read_known(fields, "device", settings.judging.device, small_integer);
  read_known(fields, "workers", settings.workers,
             [](const Place& p) { return p.name(parse_workers, worker_forms()); });
  read_known(fields, "search", settings.search, text);
  read_known(fields, "preset", settings.preset, text);
  read_known(fields, "seed", settings.seed, [](const Place& p) { return p.hexadecimal(); });
  read_known(fields, "evaluations", settings.evaluations,
             [](const Place& p) { return p.integer(); });
  read_known(fields, "seconds", settings.seconds, number);
  read_known(fields, "in_flight", settings.in_flight, small_integer);
  read_known(fields, "starts", settings.starts,
             [](const Place& p) { return p.list(read_candidate); });
  read_known(fields, "tiers", settings.tiers, texts);
  read_known(fields, "moves", settings.moves, texts);
  read_known(fields, "fast_math", settings.fast_math, truth);
  read_known(fields, "accept_suspect", settings.accept_suspect, truth);
  read_known(fields, "allow_precision", settings.allow_precision, texts);
  read_known(fields, "sandbox", settings.judging.sandbox, truth);
  read_known(fields, "threads", settings.judging.threads, small_integer);
  read_known(fields, "call_timeout_seconds", settings.judging.call_timeout_seconds, number);
  read_known(fields, "timing_seconds", settings.judging.timing_seconds, number);
  read_known(fields, "trace", settings.judging.trace, truth);
  read_known(fields, "warm", settings.judging.warm, truth);
  read_known(fields, "feedback", settings.feedback,
             [](const Place& p) { return p.name(parse_feedback, "none, raw, tools"); });
  read_known(fields, "objective", settings.objective, [](const Place& p) {
    return p.name(parse_objective, "time, energy, time-then-energy, edp");
  });
  read_known(fields, "llm", settings.llm,
             [](const Place& p) { return std::optional(read_llm_settings(p)); });
  fields.end();
  return settings;
}

nlohmann::json write_finalist(const Finalist& one) {
  return {{"node", one.node},
          {"speedup", write_number(one.speedup)},
          {"speedup_interval", write_interval(one.speedup_interval)},
          {"at_least", one.at_least},
          {"faster", one.faster},
          {"energy_ratio", write_number(one.energy_ratio)},
          {"energy_interval", write_interval(one.energy_interval)},
          {"joules", write_number(one.joules)},
          {"matched_speed", one.matched_speed},
          {"holds", one.holds}};
}

Finalist read_finalist(const Place& place) {
  Fields fields(place);
  Finalist one;
  one.node = fields.at("node").integer();
  one.speedup = fields.at("speedup").number();
  one.speedup_interval = fields.at("speedup_interval").interval();
  read_known(fields, "at_least", one.at_least, [](const Place& p) { return p.truth(); });
  one.faster = fields.at("faster").truth();
  one.energy_ratio = fields.at("energy_ratio").number();
  one.energy_interval = fields.at("energy_interval").interval();
  one.joules = fields.at("joules").number();
  one.matched_speed = fields.at("matched_speed").truth();
  one.holds = fields.at("holds").truth();
  fields.end();
  return one;
}

}  // namespace

}  // namespace wire

nlohmann::json to_json(const RunSettings& settings) {
  using namespace wire;
  nlohmann::json starts = nlohmann::json::array();
  for (const Candidate& start : settings.starts) {
    starts.push_back(to_json(start));
  }
  nlohmann::json json = {
      {"backend", name_of(settings.judging.backend)},
      {"device", settings.judging.device},
      {"workers", write_text(text_of(settings.workers))},
      {"search", write_text(settings.search)},
      {"preset", write_text(settings.preset)},
      {"seed", write_hexadecimal(settings.seed)},
      {"evaluations", settings.evaluations},
      {"seconds", write_number(settings.seconds)},
      {"in_flight", settings.in_flight},
      {"starts", std::move(starts)},
      {"tiers", write_texts(settings.tiers)},
      {"moves", write_texts(settings.moves)},
      {"fast_math", settings.fast_math},
      {"accept_suspect", settings.accept_suspect},
      {"allow_precision", write_texts(settings.allow_precision)},
      {"sandbox", settings.judging.sandbox},
      {"threads", settings.judging.threads},
      {"call_timeout_seconds", write_number(settings.judging.call_timeout_seconds)},
      {"timing_seconds", write_number(settings.judging.timing_seconds)},
      {"trace", settings.judging.trace},
      {"warm", settings.judging.warm},
      {"feedback", std::string(name_of(settings.feedback))},
      {"objective", name_of(settings.objective)}};
  if (settings.llm) {
    json["llm"] = to_json(*settings.llm);
  }
  return json;
}

Result<RunSettings> run_settings_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_run_settings);
}

nlohmann::json to_json(const std::vector<Finalist>& ranking) {
  return wire::write_list(ranking, wire::write_finalist);
}

Result<std::vector<Finalist>> ranking_from_json(const nlohmann::json& json) {
  return wire::read_document(
      json, [](const wire::Place& place) { return place.list(wire::read_finalist); });
}

}  // namespace kernelpro
