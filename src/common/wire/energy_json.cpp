#include "common/wire/energy_json.hpp"

#include <nlohmann/json.hpp>

#include "common/wire/writer.hpp"

namespace kernelpro::wire {

namespace {

using nlohmann::json;

json write_window(const EnergyWindow& window) {
  return {{"joules", write_number(window.joules)},
          {"seconds", write_number(window.seconds)},
          {"steps", window.steps},
          {"calls", window.calls},
          {"call_seconds", write_number(window.call_seconds)}};
}

EnergyWindow read_window(const Place& place) {
  Fields fields(place);
  EnergyWindow window;
  window.joules = fields.at("joules").number();
  window.seconds = fields.at("seconds").number();
  window.steps = fields.at("steps").small_integer();
  window.calls = fields.at("calls").integer();
  window.call_seconds = fields.at("call_seconds").number();
  fields.end();
  return window;
}

json write_arm(const ArmEnergy& arm) {
  return {{"windows", write_list(arm.windows, write_window)},
          {"joules", write_number(arm.joules)},
          {"joules_interval", write_interval(arm.joules_interval)},
          {"net_joules", write_number(arm.net_joules)},
          {"net_interval", write_interval(arm.net_interval)},
          {"watts", write_number(arm.watts)},
          {"call_ns", write_number(arm.call_ns)},
          {"joules_per_flop", write_number(arm.joules_per_flop)},
          {"joules_per_byte", write_number(arm.joules_per_byte)}};
}

ArmEnergy read_arm(const Place& place) {
  Fields fields(place);
  ArmEnergy arm;
  arm.windows = fields.at("windows").list(read_window);
  arm.joules = fields.at("joules").number();
  arm.joules_interval = fields.at("joules_interval").interval();
  arm.net_joules = fields.at("net_joules").number();
  arm.net_interval = fields.at("net_interval").interval();
  arm.watts = fields.at("watts").number();
  arm.call_ns = fields.at("call_ns").number();
  arm.joules_per_flop = fields.at("joules_per_flop").number();
  arm.joules_per_byte = fields.at("joules_per_byte").number();
  fields.end();
  return arm;
}

json write_shape(const ShapeEnergy& shape) {
  return {{"shape", write_axes(shape.shape)},
          {"candidate", write_arm(shape.candidate)},
          {"incumbent", write_arm(shape.incumbent)},
          {"idle", write_list(shape.idle, write_window)},
          {"idle_watts", write_number(shape.idle_watts)},
          {"ratio", write_number(shape.ratio)},
          {"ratio_interval", write_interval(shape.ratio_interval)},
          {"net_ratio", write_number(shape.net_ratio)},
          {"net_ratio_interval", write_interval(shape.net_ratio_interval)}};
}

ShapeEnergy read_shape(const Place& place) {
  Fields fields(place);
  ShapeEnergy shape;
  shape.shape = fields.at("shape").axes();
  shape.candidate = read_arm(fields.at("candidate"));
  shape.incumbent = read_arm(fields.at("incumbent"));
  shape.idle = fields.at("idle").list(read_window);
  shape.idle_watts = fields.at("idle_watts").number();
  shape.ratio = fields.at("ratio").number();
  shape.ratio_interval = fields.at("ratio_interval").interval();
  shape.net_ratio = fields.at("net_ratio").number();
  shape.net_ratio_interval = fields.at("net_ratio_interval").interval();
  fields.end();
  return shape;
}

}  // namespace

json write_energy(const Energy& energy) {
  json circumstances = json::object();
  for (const auto& [name, value] : energy.circumstances) {
    circumstances[name] = write_number(value);
  }
  return {{"meter", write_text(energy.meter)},
          {"circumstances", std::move(circumstances)},
          {"shapes", write_list(energy.shapes, write_shape)},
          {"ratio", write_number(energy.ratio)},
          {"ratio_interval", write_interval(energy.ratio_interval)},
          {"comparison", name_of(energy.comparison)},
          {"remarks", write_texts(energy.remarks)}};
}

Energy read_energy(const Place& place) {
  Fields fields(place);
  Energy energy;
  energy.meter = fields.at("meter").text();
  energy.circumstances =
      fields.at("circumstances").map([](const Place& value) { return value.number(); });
  energy.shapes = fields.at("shapes").list(read_shape);
  energy.ratio = fields.at("ratio").number();
  energy.ratio_interval = fields.at("ratio_interval").interval();
  energy.comparison = fields.at("comparison").name(parse_energy_comparison, "less, same, more");
  energy.remarks = fields.at("remarks").texts();
  fields.end();
  return energy;
}

}  // namespace kernelpro::wire
