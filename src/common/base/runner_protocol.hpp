// What worker and runner say to each other over one SOCK_SEQPACKET pair.
//
// The runner's process is hostile once a candidate is loaded: of its replies the worker believes a
// sequence number, a status and a claimed time, and holds each against its own clock and checks.
// Both ends are built together, so structs travel as they are.
#pragma once

#include <cstdint>

namespace kernelpro::runner {

inline constexpr int control_fd = 3;  // the runner's end of the pair
inline constexpr int max_tensors = 64;
inline constexpr int max_rank = 8;
inline constexpr int max_values = 16;  // scalars, and axes
inline constexpr int max_sets = 1024;
inline constexpr int max_draws = 512;
inline constexpr int max_descriptors = 250;  // in one message; the kernel's limit is 253

// The argument that makes a runner open the GPU before it confines itself.
inline constexpr char cuda_argument[] = "cuda";
// The one behind it that makes it load CUPTI before that, from the file that stands next.
inline constexpr char trace_argument[] = "trace";
// Behind cuda_argument as well: no worker talks to it; it calls the candidate of the job in the
// folder that stands next, as often as stands behind that (src/runner/replay.hpp).
inline constexpr char replay_argument[] = "replay";
// The first argument, for the same on processors: the folder, milliseconds and the bytes of the
// caches follow (src/runner/host_replay.hpp).
inline constexpr char host_replay_argument[] = "host_replay";
// The files of such a job.
inline constexpr char replay_layout[] = "layout";  // a Layout of one set, as it is in memory
inline constexpr char replay_inputs[] = "inputs";  // the input arena of that set
inline constexpr char replay_library[] = "candidate.so";

enum class Op : std::uint32_t {
  load,     // path of the shared object
  shape,    // Layout without buffers: how much workspace and state for these shapes?
  attach,   // Layout with buffers. On a CPU three descriptors: inputs, outputs, workspace. On a GPU
            // one for each tensor of each set, set by set, then one for each set's workspace, then
            // that of the gate
  prepare,  // run kp_prepare on every set
  go,       // run kp_launch on the listed sets, one after the other. On a GPU the runner first
            // says `ready` and waits for a message of four bytes, the sequence number. With a gate
            // the calls are queued behind it before that
  trace,    // as go, with what the GPU did written down; only of a runner that has CUPTI
  draw,     // write fresh inputs into `count` sets from `first` on, a Draw each; only of PyTorch
  rescale,  // Layout of buffers that are mapped already: takes its scalars
  lend,     // descriptors that the next attach takes before its own: one message has no room for
            // those of many sets
};

enum class ReplyKind : std::uint32_t {
  hello,  // carries the seccomp listener
  ready,  // everything but the calls themselves is done
  done,   // the request with this sequence number was carried out
  fault,  // a signal hit the process: evidence only, the process is about to die
};

enum class CallStatus : std::uint32_t {
  ok,
  no_symbol,       // load: kp_launch is missing, or the object does not load
  returned_error,  // kp_launch or kp_prepare returned non-zero (`code`)
  out_of_memory,   // std::bad_alloc
  exception,       // any other exception
  map_failed,      // our own mapping failed
  device_error,    // the GPU reported an error (`code` is the driver's, `text` its words)
};

// Where a faulting address lies, as the runner's own handler saw it.
enum class FaultPlace : std::uint32_t { elsewhere, before, inside, after };

// Where one tensor lies in each set: a page-aligned region of its arena, data near the region's
// end.
struct TensorPlace {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t rank;
  std::uint32_t output;  // 1: in the output arena
  std::int64_t shape[max_rank];
  std::int64_t strides[max_rank];
  std::uint64_t region_offset;  // within a set of its arena
  std::uint64_t region_bytes;
  std::uint64_t data_offset;  // of the first element within the region
};

struct Layout {
  std::uint32_t sets;
  std::uint32_t tensor_count;
  std::uint32_t scalar_count;
  std::uint32_t axis_count;
  std::int32_t threads;
  std::uint32_t populate;      // 1: touch every page while mapping
  std::uint64_t guard_bytes;   // GPU: address space left unmapped on both sides of each region
  std::uint64_t input_stride;  // bytes from one set to the next
  std::uint64_t output_stride;
  std::uint64_t workspace_stride;
  std::uint64_t workspace_bytes;   // 0: none
  std::uint64_t workspace_offset;  // of its first byte within a set
  std::uint64_t state_bytes;       // 0: none
  std::uint64_t gate_bytes;        // GPU: what is mapped for the gate; 0: there is none
  double scalars[max_values];
  std::int64_t axes[max_values];
  TensorPlace tensors[max_tensors];
};

// Where in a gate's memory the worker writes the number that lets calls begin, and the runner's
// stream the same number when they have ended.
inline constexpr std::uint64_t gate_opened_at = 0;
inline constexpr std::uint64_t gate_passed_at = 128;

// What PyTorch draws the inputs of one set from.
struct Draw {
  std::uint64_t inputs;      // seed of get_inputs()
  std::uint64_t parameters;  // seed of the module's parameters
  std::uint64_t signs;       // 1: floating inputs get random signs
};

struct Request {
  Op op;
  std::uint32_t sequence;
  std::uint32_t count;   // go: how many entries of `sets`; draw: of `draws`
  std::uint32_t option;  // attach: 1 when the descriptors are those of a GPU's memory
  std::uint32_t gate;    // go: the number that opens the gate before these calls; 0: no gate
  std::uint64_t first;   // draw: the first set
  union {
    Layout layout;
    char path[4096];
    std::uint16_t sets[max_sets];
    Draw draws[max_draws];
  };
};

inline constexpr int max_traced = 16;

// By name, since a name fits into no message of fixed size.
constexpr std::uint64_t name_hash(const char* name) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (; *name != 0; ++name) {
    hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
  }
  return hash;
}

struct TracedKernel {
  std::uint64_t name;  // hash of the demangled name; 0: copies and fills of the driver
  std::int64_t ns;     // all its launches together
};

// What the GPU did from the first of the calls to the last.
struct Trace {
  std::int64_t span_ns;    // from the first start to the last end
  std::uint32_t launches;  // kernels, copies and fills
  std::uint32_t count;     // of the entries below; the time of further kernels is in the last
  TracedKernel kernels[max_traced];
};

struct Reply {
  ReplyKind kind;
  std::uint32_t sequence;
  CallStatus status;
  std::int32_t code;      // kp_launch's return value; the signal of a fault
  std::int64_t claim_ns;  // go, prepare: the runner's own clock
  std::uint64_t workspace_bytes;
  std::uint64_t state_bytes;
  std::uint64_t fault_address;
  std::int32_t fault_tensor;  // the tensor nearest to it, -1: none of ours
  FaultPlace fault_place;
  std::uint32_t has_prepare;
  std::uint32_t calls;  // go: how many calls returned
  char text[512];       // why a load failed, what an exception said
  Trace trace;          // trace
};

}  // namespace kernelpro::runner
