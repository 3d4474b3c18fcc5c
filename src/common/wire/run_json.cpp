#include "common/wire/run_json.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/llm_json.hpp"
#include "common/wire/values.hpp"

namespace kernelpro {

KP_LAST(Feedback, tools);
KP_LAST(Objective, edp);

namespace {

void describe_workers(Form& form, Workers& workers) {
  std::string text = text_of(workers);
  form.maybe("workers", text);
  const Result<Workers> parsed = parse_workers(text);
  form.expect(parsed.ok(), "one of " + worker_forms());
  if (form.reading() && parsed) {
    workers = *parsed;
  }
}

}  // namespace

KP_DESCRIBE(HeaderFolder, name, folder, hash, commit)

void describe(Form& form, RunSettings& settings) {
  KP_FIELDS(form.maybe, settings.judging, backend, device);
  describe_workers(form, settings.workers);
  KP_FIELDS(form.maybe, settings, search, preset, seed, evaluations, seconds, in_flight, step,
            starts, tiers, moves, fast_math, accept_suspect, allow_precision);
  KP_FIELDS(form.maybe, settings.judging, sandbox, threads, call_timeout_seconds, timing_seconds,
            trace, warm);
  form.maybe("includes", settings.judging.includes);
  KP_FIELDS(form.maybe, settings, feedback, objective, llm, memory);
  if (form.reading()) {
    settings.sweep = false;  // what was written before there was a tuner
  }
  KP_FIELDS(form.maybe, settings, sweep, stop_at);
}

void describe(Form& form, Finalist& one) {
  KP_FIELDS(form, one, node, speedup, speedup_interval);
  form.maybe("at_least", one.at_least);
  KP_FIELDS(form, one, faster, energy_ratio, energy_interval, joules, matched_speed, holds);
}

KP_JSON_OF(RunSettings, run_settings_from_json)
KP_JSON_OF(std::vector<Finalist>, ranking_from_json)

}  // namespace kernelpro
