import { CodedError } from "../base/errors.ts";

/** Throws `not-root` with what to do. */
export function requireRoot(command: string): void {
  if (process.geteuid?.() === 0) return;
  throw new CodedError(
    "not-root",
    `this needs root, for mounts, namespaces and networks. Try: sudo nodelet ${command}`,
  );
}
