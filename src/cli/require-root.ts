import { CodedError } from "../base/errors.ts";

/** Throws `not-root`, with a hint, where the process does not run as root. */
export function requireRoot(command: string): void {
  if (process.geteuid?.() === 0) return;
  throw new CodedError(
    "not-root",
    `this needs root, for mounts, namespaces and networks. Try: sudo nodelet ${command}`,
  );
}
