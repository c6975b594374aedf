import { readFileSync } from "node:fs";

const CAP_SYS_ADMIN = 21n;

/** Whether this process may mount: a container's root often may not. */
export function mayMount(): boolean {
  if (process.geteuid?.() !== 0) return false;
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> CAP_SYS_ADMIN) & 1n) === 1n;
}
