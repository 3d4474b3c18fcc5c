#include "worker/profile/call_kind.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelpro {
namespace {

// How a name begins after the interface's prefix. The first that fits counts.
constexpr auto beginnings = std::to_array<std::pair<std::string_view, CallKind>>({
    {"LaunchHostFunc", CallKind::other},
    {"Launch", CallKind::launch},
    {"GraphLaunch", CallKind::launch},
    {"CtxSynchronize", CallKind::synchronize},
    {"DeviceSynchronize", CallKind::synchronize},
    {"ThreadSynchronize", CallKind::synchronize},
    {"StreamSynchronize", CallKind::synchronize},
    {"EventSynchronize", CallKind::synchronize},
    {"Memcpy", CallKind::copy},
    {"MemPrefetch", CallKind::copy},
    {"Memset", CallKind::fill},
    {"Malloc", CallKind::allocate},
    {"MemAlloc", CallKind::allocate},
    {"MemHostAlloc", CallKind::allocate},
    {"HostAlloc", CallKind::allocate},
    {"MemHostRegister", CallKind::allocate},
    {"HostRegister", CallKind::allocate},
    {"MemCreate", CallKind::allocate},
    {"MemAddressReserve", CallKind::allocate},
    {"MemMap", CallKind::allocate},
    {"ArrayCreate", CallKind::allocate},
    {"Array3DCreate", CallKind::allocate},
    {"Free", CallKind::release},
    {"MemFree", CallKind::release},
    {"MemHostUnregister", CallKind::release},
    {"HostUnregister", CallKind::release},
    {"MemRelease", CallKind::release},
    {"MemAddressFree", CallKind::release},
    {"MemUnmap", CallKind::release},
    {"ArrayDestroy", CallKind::release},
});

// Empty for a name of neither interface.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"__cuda", "cuda", "cu"}) {
    if (name.starts_with(prefix)) {
      return name.substr(prefix.size());
    }
  }
  return {};
}

}  // namespace

CallKind call_kind(std::string_view name) {
  const std::string_view rest = without_prefix(name);
  const auto* const found =
      std::find_if(beginnings.begin(), beginnings.end(),
                   [rest](const auto& entry) { return rest.starts_with(entry.first); });
  return found == beginnings.end() ? CallKind::other : found->second;
}

bool starts_profiling(std::string_view name) {
  return without_prefix(name).starts_with("ProfilerStart");
}

bool stops_profiling(std::string_view name) {
  return without_prefix(name).starts_with("ProfilerStop");
}

}  // namespace kernelpro
