/** The environment of a process of ours. The C library and libuv read it once, before any JavaScript runs. */
export const RUN_TIME_ENVIRONMENT: Readonly<Record<string, string>> = {
  // The four threads that Node.js has by default could all be waiting for volumes of unreachable servers.
  UV_THREADPOOL_SIZE: "16",
  // More than two arenas keep memory for threads that have long been idle.
  MALLOC_ARENA_MAX: "2",
};

/**
 * The flags of Node.js. A small young generation halves the memory of a process; ours allocate little and in bursts.
 */
export const RUN_TIME_FLAGS: readonly string[] = ["--max-semi-space-size=2"];
