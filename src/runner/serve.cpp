#include "runner/serve.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "common/base/clock.hpp"
#include "runner/buffers.hpp"
#include "runner/channel.hpp"
#include "runner/device.hpp"
#include "runner/library.hpp"

namespace kernelpro::runner {

namespace {

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

void load(const Request& request, Library& library, Reply& reply) {
  std::string why;
  if (!library.load(request.path, why)) {
    reply.status = CallStatus::no_symbol;
  }
  set_text(reply, why.empty() ? library.implementation : why.c_str());
}

// Where calls run, and on whose clock.
struct Place {
  Device& device;  // not open: the CPU
  Tracer& tracer;
  Buffers& buffers;

  void rescale(const Layout& layout) {
    device.is_open() ? device.rescale(layout) : buffers.rescale(layout);
  }

  [[nodiscard]] const std::vector<CallArguments>& calls() const {
    return device.is_open() ? device.calls() : buffers.calls();
  }
};

void set_device_error(Reply& reply, const Device& device, cuda::Code code) {
  reply.status = code == cuda::out_of_memory ? CallStatus::out_of_memory : CallStatus::device_error;
  reply.code = code;
  set_text(reply, device.text(code).c_str());
}

void shape(const Request& request, const Library& library, const Device& device, Reply& reply) {
  CallArguments arguments;
  describe_call(request.layout, arguments);
  if (device.is_open()) {
    device.describe(arguments);
  }
  const auto count = static_cast<std::int32_t>(request.layout.tensor_count);
  if (library.workspace != nullptr) {
    reply.workspace_bytes = library.workspace(&arguments.context, arguments.tensors.data(), count);
  }
  if (library.state != nullptr && library.prepare != nullptr) {
    reply.state_bytes = library.state(&arguments.context, arguments.tensors.data(), count);
    reply.has_prepare = 1;
  }
}

void close_all(std::vector<int>& descriptors) {
  for (const int descriptor : descriptors) {
    close(descriptor);
  }
  descriptors.clear();
}

void attach(const Request& request, const std::vector<int>& descriptors, Place& place,
            Reply& reply) {
  const auto fd = [&descriptors](std::size_t i) {
    return i < descriptors.size() ? descriptors[i] : -1;
  };
  if (place.device.is_open()) {
    if (const cuda::Code code = place.device.attach(request.layout, descriptors);
        code != cuda::success) {
      set_device_error(reply, place.device, code);
    }
  } else if (!place.buffers.attach(request.layout, fd(0), fd(1), fd(2))) {
    reply.status = CallStatus::map_failed;
  }
}

// Calls `function` on `count` sets in the order `set_of` gives.
template <typename Function, typename SetOf>
void call_sets(Function function, const std::vector<CallArguments>& calls, std::int32_t tensors,
               std::uint32_t count, SetOf set_of, Reply& reply) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const CallArguments& call = calls[set_of(i)];
    reply.code = function(&call.context, call.tensors.data(), tensors);
    if (reply.code != 0) {
      reply.status = CallStatus::returned_error;
      break;
    }
    ++reply.calls;
  }
}

// Runs `work` on the clock of the place: the processor's, or the stamps of the GPU's stream.
template <typename Work>
void timed(Place& place, Reply& reply, Work work) {
  if (!place.device.is_open()) {
    const std::int64_t start = now_ns();
    work();
    reply.claim_ns = now_ns() - start;
    return;
  }
  cuda::Code code = place.device.start();
  work();
  if (code == cuda::success) {
    code = place.device.stop(reply.claim_ns);
  }
  if (code != cuda::success) {
    set_device_error(reply, place.device, code);
  }
}

// Says that everything but the calls themselves is done, and waits for the worker's word.
bool get_ready(std::uint32_t sequence) {
  Reply ready{};
  ready.kind = ReplyKind::ready;
  ready.sequence = sequence;
  return send_reply(ready) && wait_for_word(sequence);
}

// Calls that are queued, in order, behind a gate that the worker opens when it has given the
// inputs.
template <typename Calls>
void go_through_gate(const Request& request, Place& place, Reply& reply, Calls calls) {
  Device& device = place.device;
  cuda::Code code = device.close_gate(request.gate);
  if (code == cuda::success) {
    guarded(reply, calls);
    code = device.mark_passed(request.gate);
  }
  if (!get_ready(request.sequence)) {
    reply.status = CallStatus::map_failed;
    return;
  }
  if (code == cuda::success) {
    code = device.finish(reply.claim_ns);
  }
  if (code != cuda::success) {
    set_device_error(reply, device, code);
  }
}

void go(const Request& request, const Library& library, Place& place, std::int32_t tensors,
        Reply& reply) {
  const auto calls = [&] {
    call_sets(
        library.launch, place.calls(), tensors, request.count,
        [&request](std::uint32_t i) { return request.sets[i]; }, reply);
  };
  if (!place.device.is_open()) {
    timed(place, reply, calls);
    return;
  }
  place.device.forget_pinned_cache();
  if (request.gate != 0) {
    go_through_gate(request, place, reply, calls);
  } else if (get_ready(request.sequence)) {
    timed(place, reply, calls);
  } else {
    reply.status = CallStatus::map_failed;
  }
}

void carry_out(const Request& request, const std::vector<int>& descriptors, Library& library,
               Place& place, std::int32_t& tensors, Reply& reply) {
  const auto count = static_cast<std::uint32_t>(place.calls().size());
  switch (request.op) {
    case Op::load:
      load(request, library, reply);
      break;
    case Op::shape:
      shape(request, library, place.device, reply);
      break;
    case Op::attach:
      tensors = static_cast<std::int32_t>(request.layout.tensor_count);
      attach(request, descriptors, place, reply);
      break;
    case Op::prepare:
      timed(place, reply, [&] {
        call_sets(
            library.prepare, place.calls(), tensors, count, [](std::uint32_t i) { return i; },
            reply);
      });
      break;
    case Op::go:
      go(request, library, place, tensors, reply);
      break;
    case Op::trace:
      if (!place.tracer.is_open()) {
        reply.status = CallStatus::map_failed;
        break;
      }
      place.tracer.begin();
      timed(place, reply, [&] {
        call_sets(
            library.launch, place.calls(), tensors, request.count,
            [&request](std::uint32_t i) { return request.sets[i]; }, reply);
      });
      reply.trace = place.tracer.end();
      break;
    case Op::lend:
      break;
    case Op::rescale:
      place.rescale(request.layout);
      break;
    case Op::draw:
      reply.status = CallStatus::map_failed;
      break;
  }
}

}  // namespace

int serve(Device& device, Tracer& tracer) {
  static Request request;  // too large for a comfortable stack frame
  static Buffers buffers;  // the fault handler looks at it
  Place place{device, tracer, buffers};
  Library library;
  std::int32_t tensors = 0;
  std::vector<int> descriptors;  // lent for the next attach
  describe_faults_with([](std::uint64_t address, Reply& reply) { buffers.locate(address, reply); });
  for (;;) {
    const Received received = receive_request(request);
    if (!received.ok) {
      return 0;
    }
    Reply reply{};
    reply.kind = ReplyKind::done;
    reply.sequence = request.sequence;
    descriptors.insert(descriptors.end(), received.fds.begin(),
                       received.fds.begin() + static_cast<std::ptrdiff_t>(received.fd_count));
    guarded(reply, [&] { carry_out(request, descriptors, library, place, tensors, reply); });
    if (request.op != Op::lend) {
      close_all(descriptors);
    }
    if (!send_reply(reply)) {
      return 1;
    }
  }
}

}  // namespace kernelpro::runner
