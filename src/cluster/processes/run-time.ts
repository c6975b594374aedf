/** Environment of a process of ours; the C library and libuv read it once, before any JavaScript runs. */
export const RUN_TIME_ENVIRONMENT: Readonly<Record<string, string>> = {
  // Four, as Node.js has by default, could all be waiting for volumes of servers that are away.
  UV_THREADPOOL_SIZE: "16",
  // More arenas than two keep memory for threads that have long been idle.
  MALLOC_ARENA_MAX: "2",
};

/** Flags of Node.js: a small young generation halves what a process holds; ours allocate little and in bursts. */
export const RUN_TIME_FLAGS: readonly string[] = ["--max-semi-space-size=2"];
