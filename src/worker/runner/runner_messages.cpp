#include "worker/runner/runner_messages.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace kernelpro {

namespace {

Sending outcome_of(ssize_t sent, std::size_t wanted) {
  if (sent == static_cast<ssize_t>(wanted)) {
    return Sending::sent;
  }
  return sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS) ? Sending::full
                                                                                    : Sending::gone;
}

// The first is kept. The buffer's padding has room for a second one, which is ours to close.
void take_descriptors(cmsghdr& header, UniqueFd& first) {
  const std::size_t count = (header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&header) + i * sizeof fd, sizeof fd);
    UniqueFd taken(fd);
    if (i == 0) {
      first = std::move(taken);
    }
  }
}

}  // namespace

Sending send_word(int socket, std::uint32_t sequence) {
  return outcome_of(send(socket, &sequence, sizeof sequence, MSG_NOSIGNAL | MSG_DONTWAIT),
                    sizeof sequence);
}

Sending send_request(int socket, const runner::Request& request, const std::vector<int>& fds) {
  iovec part{const_cast<runner::Request*>(&request), sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(runner::max_descriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
  }
  return outcome_of(sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT), sizeof request);
}

Incoming receive_reply(int socket) {
  Incoming incoming;
  iovec part{&incoming.reply, sizeof incoming.reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  const auto receive = [&] {
    message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    return recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  };
  ssize_t got = receive();
  // Who died with a request unread is told of once, before what it had sent.
  if (got < 0 && errno == ECONNRESET) {
    got = receive();
  }
  // An empty message and the end of the stream both read as 0; only the latter hangs up.
  pollfd state{socket, POLLIN, 0};
  incoming.closed = got == 0 && poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0;
  incoming.waiting = got >= 0 && !incoming.closed;
  incoming.whole =
      got == static_cast<ssize_t>(sizeof incoming.reply) && (message.msg_flags & MSG_TRUNC) == 0;
  incoming.reply.text[sizeof incoming.reply.text - 1] = '\0';
  // The candidate's words are shown within lines of ours: none of them may look like a line itself.
  for (char* c = incoming.reply.text; *c != '\0'; ++c) {
    *c = static_cast<unsigned char>(*c) < ' ' || *c == '\x7f' ? ' ' : *c;
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
      take_descriptors(*header, incoming.fd);
    }
  }
  return incoming;
}

}  // namespace kernelpro
