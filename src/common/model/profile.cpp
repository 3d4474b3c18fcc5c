#include "common/model/profile.hpp"

#include "common/model/enum_names.hpp"

namespace kernelpro {

namespace {

constexpr std::array<std::string_view, 7> origin_names = {
    "counter", "sample", "trace", "code", "arithmetic", "declared", "simulation"};
static_assert(origin_names.size() == static_cast<std::size_t>(Origin::simulation) + 1);

constexpr std::array<std::string_view, 6> space_names = {"global",   "shared",      "local",
                                                         "constant", "distributed", "other"};
static_assert(space_names.size() == static_cast<std::size_t>(Space::other) + 1);

constexpr std::array<std::string_view, 6> access_names = {"load",      "store",      "atomic",
                                                          "reduction", "async_copy", "bulk_copy"};
static_assert(access_names.size() == static_cast<std::size_t>(Access::bulk_copy) + 1);

}  // namespace

std::string_view name_of(Origin origin) {
  return enum_name(origin_names, origin);
}

std::string_view name_of(Space space) {
  return enum_name(space_names, space);
}

std::string_view name_of(Access access) {
  return enum_name(access_names, access);
}

std::optional<double> KernelProfile::figure(const std::string& key) const {
  const auto found = figures.find(key);
  return found == figures.end() ? std::nullopt : std::optional(found->second.value);
}

std::optional<double> Profile::limit(const std::string& name) const {
  const auto found = limits.find(name);
  return found == limits.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace kernelpro
