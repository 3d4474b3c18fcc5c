#include "common/wire/run_json.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
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
  read_known(fields, "backend", settings.backend, text);
  read_known(fields, "device", settings.device, small_integer);
  read_known(fields, "workers", settings.workers, text);
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
  read_known(fields, "sandbox", settings.sandbox, truth);
  read_known(fields, "threads", settings.threads, small_integer);
  read_known(fields, "call_timeout_seconds", settings.call_timeout_seconds, number);
  read_known(fields, "timing_seconds", settings.timing_seconds, number);
  read_known(fields, "trace", settings.trace, truth);
  read_known(fields, "warm", settings.warm, truth);
  fields.end();
  return settings;
}

}  // namespace

}  // namespace wire

nlohmann::json to_json(const RunSettings& settings) {
  using namespace wire;
  nlohmann::json starts = nlohmann::json::array();
  for (const Candidate& start : settings.starts) {
    starts.push_back(to_json(start));
  }
  return {{"backend", write_text(settings.backend)},
          {"device", settings.device},
          {"workers", write_text(settings.workers)},
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
          {"sandbox", settings.sandbox},
          {"threads", settings.threads},
          {"call_timeout_seconds", write_number(settings.call_timeout_seconds)},
          {"timing_seconds", write_number(settings.timing_seconds)},
          {"trace", settings.trace},
          {"warm", settings.warm}};
}

Result<RunSettings> run_settings_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_run_settings);
}

}  // namespace kernelpro
