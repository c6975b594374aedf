import { MINUTE } from "../../../../base/clock.ts";
import { CodedError } from "../../../../base/errors.ts";
import type { Programs } from "../../../../host/programs-port.ts";

/**
 * A program that could not do its work. `missing`: there is no such program on the node. `failed`: it says so, by its exit
 * code, or it was stopped.
 */
export class ProgramError extends CodedError<"missing" | "failed"> {
  override readonly name = "ProgramError";
  /** Undefined for a program that did not end by itself. */
  readonly exitCode: number | undefined;

  constructor(code: "missing" | "failed", message: string, exitCode?: number) {
    super(code, message);
    this.exitCode = exitCode;
  }
}

interface ShortRun {
  readonly path: string;
  readonly args: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** open-iscsi itself gives up within two minutes. */
const TIMEOUT_MS = 3 * MINUTE;
const INSTALL: Readonly<Record<string, string>> = {
  iscsiadm: "install open-iscsi on Debian, Ubuntu and SUSE, iscsi-initiator-utils on Fedora and RHEL",
  multipath: "install multipath-tools on Debian, Ubuntu and SUSE, device-mapper-multipath on Fedora and RHEL",
  blockdev: "install util-linux",
};

/** Runs a program to its end and returns what it printed. Rejects with a `ProgramError`, which has the program's words. */
export async function callProgram(
  { programs }: { readonly programs: Pick<Programs, "run"> },
  { path, args, signal }: ShortRun,
): Promise<string> {
  const outcome = await programs.run({ path, args, environment: {}, timeoutMs: TIMEOUT_MS }, signal);
  if (outcome.kind === "printed") return outcome.stdout.toString();
  if (outcome.kind === "missing") {
    throw new ProgramError("missing", `the program ${path} is missing on this node: ${INSTALL[path] ?? "install it"}`);
  }
  const words = [outcome.stderr, outcome.stdout.toString().trim()].filter((text) => text !== "").join("\n");
  throw new ProgramError("failed", `${words} (${path} ${outcome.problem})`.trimStart(), outcome.exitCode);
}
