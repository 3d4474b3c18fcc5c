#include "coordinator/tune/source_space.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kernelpro {

Result<TuneSpace> space_of(const std::vector<Tunable>& tunables) {
  std::vector<TuneParameter> parameters;
  for (const Tunable& one : tunables) {
    std::set<std::int64_t> values(one.values.begin(), one.values.end());
    values.insert(one.current);
    TuneParameter parameter{.name = one.name, .values = {}, .ordinal = true};
    for (const std::int64_t value : values) {
      parameter.values.push_back(std::to_string(value));
    }
    parameters.push_back(std::move(parameter));
  }
  return TuneSpace::make(std::move(parameters));
}

Result<Code> code_of(const TuneSpace& space, const std::vector<Tunable>& tunables) {
  std::vector<std::size_t> places;
  for (std::size_t axis = 0; axis < space.axes() && axis < tunables.size(); ++axis) {
    const TuneParameter& parameter = space.parameters()[axis];
    const auto here = std::ranges::find(parameter.values, std::to_string(tunables[axis].current));
    if (parameter.name != tunables[axis].name || here == parameter.values.end()) {
      break;
    }
    places.push_back(static_cast<std::size_t>(here - parameter.values.begin()));
  }
  if (places.size() != space.axes() || places.size() != tunables.size()) {
    return make_error(ErrorKind::bad_input,
                      "the source has other tunables, or other values of them");
  }
  return space.code_of(places);
}

Result<std::string> source_at(const std::string& source, const TuneSpace& space, Code code) {
  std::map<std::string, std::int64_t> values;
  for (std::size_t axis = 0; axis < space.axes(); ++axis) {
    const TuneParameter& parameter = space.parameters()[axis];
    values[parameter.name] = std::stoll(parameter.values[space.value(code, axis)]);
  }
  return set_tunables(source, values);
}

}  // namespace kernelpro
