// The CUDA driver, found at run time: KernelPro builds the same with or without a toolkit.
//
// Types and signatures are those of the driver's interface, by the names they have there without
// the prefix; a test holds them against cuda.h where a toolkit is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro::cuda {

using Code = int;  // CUresult
using Device = int;
using Pointer = unsigned long long;           // CUdeviceptr
using AllocationHandle = unsigned long long;  // CUmemGenericAllocationHandle
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;

inline constexpr Code success = 0;
inline constexpr Code invalid_value = 1;
inline constexpr Code out_of_memory = 2;
inline constexpr Code no_device = 100;
inline constexpr Code illegal_address = 700;

enum Attribute : int {
  multiprocessor_count = 16,
  l2_cache_bytes = 38,
  multiprocessor_threads = 39,
  capability_major = 75,
  capability_minor = 76,
  multiprocessor_shared_bytes = 81,
  multiprocessor_registers = 82,
  block_shared_bytes = 97,  // at most, when asked for
  file_descriptors_supported = 103,
  multiprocessor_blocks = 106,
  reserved_shared_bytes = 111,  // of a block, by the driver
};

struct Location {
  int type = 1;  // a device
  int id = 0;
};

struct AllocationProperties {
  int type = 1;          // pinned
  int handle_types = 1;  // file descriptors
  Location location;
  void* reserved_for_windows = nullptr;
  std::uint64_t flags = 0;
};

enum AccessRights : int { read_only = 1, read_write = 3 };

struct AccessDescription {
  Location location;
  int rights = read_write;
};

inline constexpr int file_descriptor_handle = 1;
inline constexpr unsigned non_blocking = 1;  // of a stream: CU_STREAM_NON_BLOCKING

struct Driver {
  Code (*init)(unsigned flags);
  Code (*driver_version)(int* version);
  Code (*error_name)(Code code, const char** name);
  Code (*error_text)(Code code, const char** text);
  Code (*device_count)(int* count);
  Code (*device_get)(Device* device, int ordinal);
  Code (*device_name)(char* name, int length, Device device);
  Code (*device_uuid)(unsigned char* uuid, Device device);
  Code (*device_memory)(std::size_t* bytes, Device device);
  Code (*device_attribute)(int* value, int attribute, Device device);
  Code (*primary_retain)(Context* context, Device device);
  Code (*context_set)(Context context);
  Code (*context_synchronize)();
  Code (*context_reset_persisting_l2)();
  Code (*memory_info)(std::size_t* free, std::size_t* total);
  Code (*memory_granularity)(std::size_t* bytes, const AllocationProperties* properties,
                             int option);
  Code (*memory_create)(AllocationHandle* handle, std::size_t bytes,
                        const AllocationProperties* properties, unsigned long long flags);
  Code (*memory_release)(AllocationHandle handle);
  Code (*memory_export)(void* descriptor, AllocationHandle handle, int type,
                        unsigned long long flags);
  Code (*memory_import)(AllocationHandle* handle, void* descriptor, int type);
  Code (*address_reserve)(Pointer* pointer, std::size_t bytes, std::size_t alignment, Pointer at,
                          unsigned long long flags);
  Code (*address_free)(Pointer pointer, std::size_t bytes);
  Code (*memory_map)(Pointer pointer, std::size_t bytes, std::size_t offset,
                     AllocationHandle handle, unsigned long long flags);
  Code (*memory_unmap)(Pointer pointer, std::size_t bytes);
  Code (*memory_access)(Pointer pointer, std::size_t bytes, const AccessDescription* access,
                        std::size_t count);
  Code (*allocate)(Pointer* pointer, std::size_t bytes);
  Code (*free)(Pointer pointer);
  Code (*copy_to_device)(Pointer to, const void* from, std::size_t bytes, Stream stream);
  Code (*copy_to_host)(void* to, Pointer from, std::size_t bytes, Stream stream);
  Code (*copy_on_device)(Pointer to, Pointer from, std::size_t bytes, Stream stream);
  Code (*set_bytes)(Pointer to, unsigned char value, std::size_t bytes, Stream stream);
  Code (*module_load)(Module* module, const void* image);
  Code (*module_unload)(Module module);
  Code (*module_function)(Function* function, Module module, const char* name);
  Code (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                 Stream stream, void** arguments, void** extra);
  Code (*stream_create)(Stream* stream, unsigned flags);
  Code (*stream_destroy)(Stream stream);
  Code (*stream_synchronize)(Stream stream);
  Code (*stream_query)(Stream stream);
  // Queued: the stream waits until `*at` has reached `value`; `value` is written there.
  Code (*stream_wait_value)(Stream stream, Pointer at, std::uint32_t value, unsigned flags);
  Code (*stream_write_value)(Stream stream, Pointer at, std::uint32_t value, unsigned flags);
  Code (*event_create)(Event* event, unsigned flags);
  Code (*event_destroy)(Event event);
  Code (*event_record)(Event event, Stream stream);
  Code (*event_elapsed)(float* milliseconds, Event start, Event end);
  // Whoever profiles this process looks at what lies between these two.
  Code (*profiler_start)();
  Code (*profiler_stop)();

  // "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  [[nodiscard]] std::string text(Code code) const;
};

// Loads libcuda.so.1 once a process. An environment error says what is missing: no driver, or one
// too old for the virtual-memory calls.
[[nodiscard]] Result<const Driver*> load_driver();

// `code` as an error of ours, "doing what".
[[nodiscard]] Error driver_error(const Driver& driver, Code code, const std::string& doing);

}  // namespace kernelpro::cuda
