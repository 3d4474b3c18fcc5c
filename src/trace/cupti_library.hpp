// CUPTI, loaded while the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernelpro::trace {

using GiveBuffer = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using TakeBuffer = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using Callback = void (*)(void*, std::uint32_t, std::uint32_t, const void*);

// All of it returns 0 when it worked.
struct CuptiLibrary {
  int (*version)(std::uint32_t*) = nullptr;
  int (*result_text)(int, const char**) = nullptr;
  int (*timestamp)(std::uint64_t*) = nullptr;
  int (*subscribe)(void**, Callback, void*) = nullptr;
  int (*unsubscribe)(void*) = nullptr;
  int (*enable_callback)(std::uint32_t, void*, std::uint32_t, std::uint32_t) = nullptr;
  int (*callback_name)(std::uint32_t, std::uint32_t, const char**) = nullptr;
  int (*enable)(std::uint32_t) = nullptr;
  int (*register_callbacks)(GiveBuffer, TakeBuffer) = nullptr;
  int (*next_record)(std::uint8_t*, std::size_t, void**) = nullptr;
  int (*dropped)(void*, std::uint32_t, std::size_t*) = nullptr;
  int (*flush)(std::uint32_t) = nullptr;
  // Single functions of an interface; null in older versions.
  int (*enable_driver_call)(std::uint32_t, std::uint8_t) = nullptr;
  int (*enable_runtime_call)(std::uint32_t, std::uint8_t) = nullptr;

  // The one that KERNELPRO_CUPTI names, else the system's. Empty, or why there is none.
  [[nodiscard]] std::string load();
  [[nodiscard]] std::string text_of(int result) const;
};

}  // namespace kernelpro::trace
