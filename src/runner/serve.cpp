#include "runner/serve.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "common/base/clock.hpp"
#include "runner/buffers.hpp"
#include "runner/channel.hpp"

namespace kernelpro::runner {

namespace {

struct Library {
  decltype(&kp_launch) launch = nullptr;
  decltype(&kp_workspace) workspace = nullptr;
  decltype(&kp_state) state = nullptr;
  decltype(&kp_prepare) prepare = nullptr;
};

void set_text(Reply& reply, const char* text) {
  std::snprintf(reply.text, sizeof reply.text, "%s", text == nullptr ? "" : text);
}

// Runs `work` and turns what it throws into a status: an exception is a result, not our end.
template <typename Work>
void guarded(Reply& reply, Work work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    reply.status = CallStatus::out_of_memory;
    set_text(reply, "std::bad_alloc");
  } catch (const std::exception& failure) {
    reply.status = CallStatus::exception;
    set_text(reply, failure.what());
  } catch (...) {
    reply.status = CallStatus::exception;
    set_text(reply, "an exception that is not a std::exception");
  }
}

template <typename Function>
Function symbol(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

void load(const Request& request, Library& library, Reply& reply) {
  void* handle = dlopen(request.path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reply.status = CallStatus::no_symbol;
    set_text(reply, dlerror());
    return;
  }
  library.launch = symbol<decltype(library.launch)>(handle, "kp_launch");
  library.workspace = symbol<decltype(library.workspace)>(handle, "kp_workspace");
  library.state = symbol<decltype(library.state)>(handle, "kp_state");
  library.prepare = symbol<decltype(library.prepare)>(handle, "kp_prepare");
  if (library.launch == nullptr) {
    reply.status = CallStatus::no_symbol;
    set_text(reply,
             "the candidate does not export kp_launch (include kernelpro/candidate.h and "
             "define it with C linkage)");
    return;
  }
  if (const auto implementation = symbol<decltype(&kp_implementation)>(handle, "kp_implementation");
      implementation != nullptr) {
    set_text(reply, implementation());
  }
}

void shape(const Request& request, const Library& library, Reply& reply) {
  Buffers sizes;
  CallArguments arguments;
  sizes.describe(request.layout, arguments);
  const auto count = static_cast<std::int32_t>(request.layout.tensor_count);
  if (library.workspace != nullptr) {
    reply.workspace_bytes = library.workspace(&arguments.context, arguments.tensors.data(), count);
  }
  if (library.state != nullptr && library.prepare != nullptr) {
    reply.state_bytes = library.state(&arguments.context, arguments.tensors.data(), count);
    reply.has_prepare = 1;
  }
}

void attach(const Request& request, const Received& received, Buffers& buffers, Reply& reply) {
  if (!buffers.attach(request.layout, received.fds[0], received.fds[1], received.fds[2])) {
    reply.status = CallStatus::map_failed;
  }
}

// Calls `function` on `count` sets in the order `set_of` gives, on the clock.
template <typename Function, typename SetOf>
void call_sets(Function function, const Buffers& buffers, std::uint32_t count, SetOf set_of,
               Reply& reply) {
  const auto tensors = static_cast<std::int32_t>(buffers.tensor_count());
  const std::int64_t start = now_ns();
  for (std::uint32_t i = 0; i < count; ++i) {
    const CallArguments& call = buffers.call(set_of(i));
    reply.code = function(&call.context, call.tensors.data(), tensors);
    if (reply.code != 0) {
      reply.status = CallStatus::returned_error;
      break;
    }
    ++reply.calls;
  }
  reply.claim_ns = now_ns() - start;
}

void carry_out(const Request& request, const Received& received, Library& library, Buffers& buffers,
               Reply& reply) {
  switch (request.op) {
    case Op::load:
      load(request, library, reply);
      break;
    case Op::shape:
      shape(request, library, reply);
      break;
    case Op::attach:
      attach(request, received, buffers, reply);
      break;
    case Op::prepare:
      call_sets(
          library.prepare, buffers, static_cast<std::uint32_t>(buffers.sets()),
          [](std::uint32_t i) { return i; }, reply);
      break;
    case Op::go:
      call_sets(
          library.launch, buffers, request.count,
          [&request](std::uint32_t i) { return request.sets[i]; }, reply);
      break;
  }
}

}  // namespace

int serve() {
  static Request request;  // too large for a comfortable stack frame
  static Buffers buffers;  // the fault handler looks at it
  Library library;
  describe_faults_with([](std::uint64_t address, Reply& reply) { buffers.locate(address, reply); });
  for (;;) {
    const Received received = receive_request(request);
    if (!received.ok) {
      return 0;
    }
    Reply reply{};
    reply.kind = ReplyKind::done;
    reply.sequence = request.sequence;
    guarded(reply, [&] { carry_out(request, received, library, buffers, reply); });
    for (const int fd : received.fds) {
      if (fd >= 0) {
        close(fd);
      }
    }
    if (!send_reply(reply)) {
      return 1;
    }
  }
}

}  // namespace kernelpro::runner
