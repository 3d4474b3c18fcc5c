#include <nlohmann/json.hpp>

#include "common/wire/finding_json.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/profile_json.hpp"
#include "common/wire/reader.hpp"
#include "common/wire/values.hpp"
#include "common/wire/writer.hpp"

namespace kernelpro {

namespace wire {

namespace {

std::string required_text(Fields& fields, const std::string& key) {
  const Place place = fields.at(key);
  std::string text = place.text();
  if (text.empty()) {
    place.complain_expected("a text that is not empty");
  }
  return text;
}

void read_candidate_fields(Fields& fields, const Place& place, DiagnoseOrder& order) {
  if (const auto candidate = fields.maybe("candidate")) {
    order.candidate = read_candidate(*candidate);
  }
  if (const auto implementation = fields.maybe("implementation")) {
    order.implementation = implementation->text();
  }
  if (order.candidate.has_value() != order.implementation.empty()) {
    place.complain(R"(expected one of "candidate" and "implementation")");
  }
}

void read_program_fields(Fields& fields, DiagnoseOrder& order) {
  const Place program = fields.at("program");
  order.program = program.texts();
  if (order.program.empty() || order.program.front().empty()) {
    program.complain_expected("the program and its arguments");
  }
  order.directory = required_text(fields, "directory");
  if (const auto environment = fields.maybe("environment")) {
    order.environment = environment->texts();
  }
}

// What is diagnosed: each kind has its own keys.
void read_subject(Fields& fields, const Place& place, DiagnoseOrder& order) {
  switch (order.kind) {
    case DiagnoseKind::candidate:
      read_candidate_fields(fields, place, order);
      break;
    case DiagnoseKind::library:
      order.library = required_text(fields, "library");
      break;
    case DiagnoseKind::program:
      read_program_fields(fields, order);
      break;
    case DiagnoseKind::nsys:
      order.nsys_report = required_text(fields, "nsys_report");
      break;
    case DiagnoseKind::profile:
      order.profile = read_profile(fields.at("profile"));
      break;
  }
  if (order.kind == DiagnoseKind::candidate || order.kind == DiagnoseKind::library) {
    if (const auto shape = fields.maybe("shape")) {
      order.shape = shape->axes();
    }
  }
}

DiagnoseOrder read_diagnose_order(const Place& place) {
  Fields fields(place);
  DiagnoseOrder order;
  order.kind =
      fields.at("kind").name(parse_diagnose_kind, "candidate, library, program, nsys, profile");
  read_subject(fields, place, order);
  if (const auto all = fields.maybe("all_tools")) {
    order.all_tools = all->truth();
  }
  if (const auto rules = fields.maybe("rules")) {
    order.rules = rules->truth();
  }
  if (const auto counters = fields.maybe("counters")) {
    order.counters = counters->truth();
  }
  if (const auto timeout = fields.maybe("timeout_ms")) {
    order.timeout_ms = timeout->integer();
  }
  if (const auto device = fields.maybe("device")) {
    order.device = device->small_integer();
  }
  if (const auto keep = fields.maybe("keep")) {
    order.keep = keep->text();
  }
  fields.end();
  return order;
}

Diagnosed read_diagnosed(const Place& place) {
  Fields fields(place);
  Diagnosed diagnosed;
  diagnosed.profile = read_profile(fields.at("profile"));
  diagnosed.report = read_diagnosis(fields.at("diagnosis"));
  diagnosed.seconds =
      fields.at("seconds").map([](const Place& seconds) { return seconds.number(); });
  fields.end();
  return diagnosed;
}

void put_subject(nlohmann::json& object, const DiagnoseOrder& order) {
  switch (order.kind) {
    case DiagnoseKind::candidate:
      if (order.candidate) {
        object["candidate"] = to_json(*order.candidate);
      } else {
        object["implementation"] = write_text(order.implementation);
      }
      break;
    case DiagnoseKind::library:
      object["library"] = write_text(order.library);
      break;
    case DiagnoseKind::program:
      object["program"] = write_texts(order.program);
      object["directory"] = write_text(order.directory);
      object["environment"] = write_texts(order.environment);
      break;
    case DiagnoseKind::nsys:
      object["nsys_report"] = write_text(order.nsys_report);
      break;
    case DiagnoseKind::profile:
      object["profile"] = to_json(order.profile.value_or(Profile()));
      break;
  }
  if (order.shape &&
      (order.kind == DiagnoseKind::candidate || order.kind == DiagnoseKind::library)) {
    object["shape"] = write_axes(*order.shape);
  }
}

}  // namespace

}  // namespace wire

nlohmann::json to_json(const DiagnoseOrder& order) {
  nlohmann::json json = {{"kind", name_of(order.kind)},    {"all_tools", order.all_tools},
                         {"rules", order.rules},           {"counters", order.counters},
                         {"timeout_ms", order.timeout_ms}, {"device", order.device}};
  wire::put_subject(json, order);
  if (!order.keep.empty()) {
    json["keep"] = wire::write_text(order.keep);
  }
  return json;
}

nlohmann::json to_json(const Diagnosed& diagnosed) {
  nlohmann::json seconds = nlohmann::json::object();
  for (const auto& [step, value] : diagnosed.seconds) {
    seconds[wire::valid_utf8(step)] = wire::write_number(value);
  }
  return {{"profile", to_json(diagnosed.profile)},
          {"diagnosis", to_json(diagnosed.report)},
          {"seconds", std::move(seconds)}};
}

Result<DiagnoseOrder> diagnose_order_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_diagnose_order);
}

Result<Diagnosed> diagnosed_from_json(const nlohmann::json& json) {
  return wire::read_document(json, wire::read_diagnosed);
}

}  // namespace kernelpro
