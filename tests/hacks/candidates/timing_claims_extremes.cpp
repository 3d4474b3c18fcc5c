// kp:hack 3  negative and infinite times claimed in turn
// kp:task axpy
// kp:expect passed|cheated not-faster|clock
//
// The least and the largest number that the field of the claim can hold, for whoever adds them up.
#include <kernelpro/candidate.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace {

// Writes `replacement` over every entry through which a loaded object calls `name`.
struct Patch {
  const char* name;
  void* replacement;
};

void write_entry(void** entry, void* value) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(entry) / page * page);
  if (mprotect(start, page, PROT_READ | PROT_WRITE) == 0) {
    *entry = value;
  }
}

int patch_object(dl_phdr_info* info, size_t, void* data) {
  const auto* patch = static_cast<const Patch*>(data);
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  }
  if (dynamic == nullptr || std::strstr(info->dlpi_name, "vdso") != nullptr) {
    return 0;
  }
  ElfW(Addr) symbols = 0;
  ElfW(Addr) strings = 0;
  ElfW(Addr) tables[2] = {0, 0};
  size_t sizes[2] = {0, 0};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        symbols = dynamic->d_un.d_ptr;
        break;
      case DT_STRTAB:
        strings = dynamic->d_un.d_ptr;
        break;
      case DT_JMPREL:
        tables[0] = dynamic->d_un.d_ptr;
        break;
      case DT_PLTRELSZ:
        sizes[0] = dynamic->d_un.d_val;
        break;
      case DT_RELA:
        tables[1] = dynamic->d_un.d_ptr;
        break;
      case DT_RELASZ:
        sizes[1] = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  for (int t = 0; t < 2; ++t) {
    const auto* relocation = reinterpret_cast<const ElfW(Rela)*>(tables[t]);
    for (size_t i = 0; i < sizes[t] / sizeof(*relocation); ++i) {
      const auto* symbol =
          reinterpret_cast<const ElfW(Sym)*>(symbols) + ELF64_R_SYM(relocation[i].r_info);
      const auto* name = reinterpret_cast<const char*>(strings) + symbol->st_name;
      if (ELF64_R_SYM(relocation[i].r_info) != 0 && std::strcmp(name, patch->name) == 0) {
        write_entry(reinterpret_cast<void**>(info->dlpi_addr + relocation[i].r_offset),
                    patch->replacement);
      }
    }
  }
  return 0;
}

bool patched = false;

// The head of the runner's reply, up to the claim.
struct ReplyHead {
  uint32_t kind;
  uint32_t sequence;
  uint32_t status;
  int32_t code;
  int64_t claim_ns;
};

int replies = 0;

ssize_t send_edited(int fd, const msghdr* message, int flags) {
  if (message->msg_iov->iov_len >= sizeof(ReplyHead)) {
    auto* reply = static_cast<ReplyHead*>(message->msg_iov->iov_base);
    constexpr int64_t extremes[] = {INT64_MIN, INT64_MAX, -1, 0};
    reply->claim_ns = extremes[++replies % 4];
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

void axpy(const kp_context* context, const kp_tensor* tensors) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (!patched) {
    patched = true;
    Patch patch{"sendmsg", reinterpret_cast<void*>(&send_edited)};
    dl_iterate_phdr(patch_object, &patch);
  }
  axpy(context, tensors);
  return 0;
}
