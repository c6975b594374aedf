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

/** How this program is started anew. */
export interface ProgramStart {
  /** The absolute path of Node.js. */
  readonly node: string;
  /** The absolute path of this program's file. A single executable is its own Node.js: the two are the same. */
  readonly entry: string;
}

/** Computes the words that a command of this program begins with. A single executable brings the flags with it. */
export function computeProgramWords({ node, entry }: ProgramStart, flags: readonly string[]): readonly string[] {
  return node === entry ? [node] : [node, ...flags, entry];
}

/** Computes the flags of a process that runs for months: those of this process, or the given ones, and `RUN_TIME_FLAGS`. */
export function computeRunTimeFlags(given: readonly string[] = process.execArgv): readonly string[] {
  return [...given.filter((flag) => !RUN_TIME_FLAGS.includes(flag)), ...RUN_TIME_FLAGS];
}
