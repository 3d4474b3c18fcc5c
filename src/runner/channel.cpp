#include "runner/channel.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace kernelpro::runner {

namespace {

constexpr std::size_t signal_stack_bytes = 64 * 1024;
alignas(16) char signal_stack[signal_stack_bytes];
AddressDescriber describe_address = nullptr;

// Whether the access that faulted was a write, as the processor says; where it does not, it may
// have been.
bool may_have_written(const ucontext_t& context) {
#if defined(__x86_64__)
  constexpr greg_t write_bit = 1 << 1;
  return (context.uc_mcontext.gregs[REG_ERR] & write_bit) != 0;
#elif defined(__aarch64__)
  constexpr std::uint64_t write_bit = 1 << 6;
  const auto& records = context.uc_mcontext.__reserved;
  for (std::size_t at = 0; at + sizeof(esr_context) <= sizeof records;) {
    esr_context record;
    std::memcpy(&record, records + at, sizeof record);
    if (record.head.magic == ESR_MAGIC) {
      return (record.esr & write_bit) != 0;
    }
    if (record.head.size == 0) {
      return true;
    }
    at += record.head.size;
  }
  return true;
#else
  return true;
#endif
}

void on_fatal_signal(int signal, siginfo_t* info, void* context) {
  Reply reply{};
  reply.kind = ReplyKind::fault;
  reply.code = signal;
  reply.fault_address = reinterpret_cast<std::uint64_t>(info->si_addr);
  reply.fault_tensor = -1;
  if (describe_address != nullptr) {
    describe_address(reply.fault_address, reply);
  }
  // All of our buffers can be read: what was read there belonged to buffers of before.
  if (reply.fault_place == FaultPlace::inside &&
      !may_have_written(*static_cast<const ucontext_t*>(context))) {
    reply.fault_tensor = -1;
    reply.fault_place = FaultPlace::elsewhere;
  }
  send_reply(reply);
  // Back to the default action: returning repeats the fault, or the sender's signal is raised
  // again.
  std::signal(signal, SIG_DFL);
  if (info->si_code <= 0) {
    std::raise(signal);
  }
}

}  // namespace

Received receive_request(Request& request) {
  iovec part{&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = recvmsg(control_fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  Received received;
  if (got != static_cast<ssize_t>(sizeof request)) {
    return received;
  }
  received.ok = true;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
      header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    received.fd_count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(received.fds.data(), CMSG_DATA(header), received.fd_count * sizeof(int));
  }
  return received;
}

bool wait_for_word(std::uint32_t sequence) {
  for (;;) {
    std::uint32_t word = 0;
    const ssize_t got = recv(control_fd, &word, sizeof word, MSG_DONTWAIT);
    if (got >= 0) {
      return got == static_cast<ssize_t>(sizeof word) && word == sequence;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return false;
    }
  }
}

bool send_reply(const Reply& reply, int fd) {
  iovec part{const_cast<Reply*>(&reply), sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sendmsg(control_fd, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof reply);
}

void describe_faults_with(AddressDescriber describer) {
  describe_address = describer;
}

void report_fatal_signals() {
  stack_t stack{};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof signal_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace kernelpro::runner
