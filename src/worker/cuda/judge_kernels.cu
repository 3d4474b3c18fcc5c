// The judge's own work on the GPU: drawing inputs, handing them over, poisoning, comparing.
// Compiled at first use by the worker's own toolchain, with what it includes beside it.
#include "compare_kernels.cuh"
#include "draw_kernels.cuh"

// A piece of memory that moves as a whole; a multiple of 16 bytes.
struct Chunk {
  const uint4* from;
  uint4* to;
  Size words;
};

namespace {

// Writes a line that stays in the cache longer than all others, or as any does. The latter takes
// the former back, which a plain write does not. Such hints came with Ampere.
__device__ void store(uint4* to, uint4 value, bool stays_longer) {
#if __CUDA_ARCH__ >= 800
  Size last = 0, normal = 0;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
  asm volatile("st.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
               :
               : "l"(to), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w),
                 "l"(stays_longer ? last : normal)
               : "memory");
#else
  *to = value;
#endif
}

}  // namespace

// One launch for all tensors of all sets: launching takes longer than copying what is small.
extern "C" __global__ void copy_chunks(const Chunk* chunks, Size count) {
  for (Size at = blockIdx.x; at < count; at += gridDim.x) {
    const Chunk chunk = chunks[at];
    for (Size i = threadIdx.x; i < chunk.words; i += blockDim.x) {
      store(chunk.to + i, chunk.from[i], false);
    }
  }
}

extern "C" __global__ void poison_chunks(const Chunk* chunks, Size count) {
  const unsigned poison = 0xffffffffU;
  for (Size at = blockIdx.x; at < count; at += gridDim.x) {
    const Chunk chunk = chunks[at];
    for (Size i = threadIdx.x; i < chunk.words; i += blockDim.x) {
      chunk.to[i] = make_uint4(poison, poison, poison, poison);
    }
  }
}

// How many words differ between where chunks come from and where they went.
extern "C" __global__ void count_changed(const Chunk* chunks, Size count, Size* changed) {
  Size mine = 0;
  for (Size at = blockIdx.x; at < count; at += gridDim.x) {
    const Chunk chunk = chunks[at];
    for (Size i = threadIdx.x; i < chunk.words; i += blockDim.x) {
      const uint4 a = chunk.from[i], b = chunk.to[i];
      mine += (a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w) ? 1 : 0;
    }
  }
  mine = warp_sum(mine);
  if (first_lane() && mine > 0) atomicAdd(changed, mine);
}

// The least and the greatest position in [begin, end) that is not poison, as far as there is any.
struct Range {
  Size first;
  Size last;
};

// A piece of memory that should be poison, and where what is found in it is noted.
struct Watched {
  const unsigned char* data;
  Size begin;
  Size end;
  Range* found;
};

namespace {

__device__ void find_written_in(const Watched& watched) {
  // By words where nothing is written, which is nearly everywhere.
  const unsigned char* data = watched.data;
  const Size begin = watched.begin, end = watched.end;
  const Size words_begin = (begin + 15) / 16, words_end = end / 16;
  const uint4* words = reinterpret_cast<const uint4*>(data);
  Size first = ~Size{0}, last = 0;
  const auto note = [&](Size at) {
    first = at < first ? at : first;
    last = at + 1 > last ? at + 1 : last;
  };
  if (words_begin >= words_end) {
    for (Size at = begin + threadIdx.x; at < end; at += blockDim.x) {
      if (data[at] != 0xff) note(at);
    }
  } else {
    for (Size i = words_begin + threadIdx.x; i < words_end; i += blockDim.x) {
      const uint4 w = words[i];
      if ((w.x & w.y & w.z & w.w) == 0xffffffffU) continue;
      for (Size at = 16 * i; at < 16 * i + 16; ++at) {
        if (data[at] != 0xff) note(at);
      }
    }
    if (threadIdx.x < 32) {
      const Size head = begin + threadIdx.x, tail = 16 * words_end + threadIdx.x;
      if (head < 16 * words_begin && data[head] != 0xff) note(head);
      if (tail < end && data[tail] != 0xff) note(tail);
    }
  }
  if (last != 0) {
    atomicMin(&watched.found->first, first);
    atomicMax(&watched.found->last, last);
  }
}

}  // namespace

extern "C" __global__ void find_written(const Watched* watched, Size count) {
  for (Size at = blockIdx.x; at < count; at += gridDim.x) find_written_in(watched[at]);
}

// Writes through `words` words. First so that they stay longer: what was in the cache is not any
// more, whatever hints it came with. Then so that they give way to anybody.
extern "C" __global__ void sweep(uint4* data, Size words, unsigned stay_longer) {
  for (Size i = first_index(); i < words; i += index_step()) {
    store(data + i, make_uint4(1, 1, 1, 1), stay_longer != 0);
  }
}

extern "C" __global__ void probe() {}

// When it runs, in nanoseconds.
extern "C" __global__ void stamp(unsigned long long* out) {
  if (first_index() == 0) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(*out));
  }
}
