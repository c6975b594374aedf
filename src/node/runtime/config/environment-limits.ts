import { MAX_PROGRAM_BYTES, MAX_TEXT_BYTES } from "./expansion.ts";
import type { ReferredValue } from "./referred-values.ts";

/** In one container's environment; each variable costs the node agent, the runtime and its programs their time. */
export const MAX_VARIABLES = 50_000;

/** Counts what a container's environment is made of while it is made. */
export interface EnvironmentLimits {
  /** Returns the value, or why there is too much with it. Undefined stands for a value that is too long by itself. */
  add(name: string, value: ReferredValue | undefined): ReferredValue | { error: string };
}

/** Starts with so many variables. One that is set twice counts twice. */
export function createEnvironmentLimits(variables: number): EnvironmentLimits {
  let count = variables;
  let bytes = 0;
  return {
    add(name, value) {
      const length = Buffer.byteLength(name) + 1 + (value?.bytes?.length ?? Buffer.byteLength(value?.value ?? ""));
      count += 1;
      bytes += length;
      if (value === undefined || length > MAX_TEXT_BYTES) {
        return { error: `the environment variable ${name} has more than ${MAX_TEXT_BYTES} bytes` };
      }
      if (bytes > MAX_PROGRAM_BYTES) return { error: `the environment has more than ${MAX_PROGRAM_BYTES} bytes` };
      return count > MAX_VARIABLES ? { error: `the environment has more than ${MAX_VARIABLES} variables` } : value;
    },
  };
}
