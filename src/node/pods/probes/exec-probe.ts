import type { Container } from "../../../api/gen/types.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import { type Cri, isCriError } from "../../../cri/port.ts";
import { formatSeconds } from "./grpc-probe.ts";
import { MAX_OUTPUT_BYTES, type ProbeAttempt } from "./probe-attempt.ts";

export interface ExecProbeDeps {
  runtime: Pick<Cri["runtime"], "execSync">;
  /** Replaces `$(NAME)` like in a container's own command. Undefined where no program can be given so much. */
  expand(words: readonly string[], lookup: (name: string) => string | undefined): string[] | undefined;
}

/** A command in a container, with its time limit. */
interface ExecProbe {
  readonly containerId: string;
  readonly container: Container;
  readonly command: readonly string[];
  readonly timeoutSeconds: number;
}

/**
 * The time beyond the command's own in which the runtime has to end the command and to answer. Upstream waits two
 * minutes more, in which a runtime that hangs keeps the probe from being made again.
 */
const RUNTIME_SLACK_MS = 2_000;

/** Runs the command. Rejects only when the signal fires. */
export async function runExecProbe(
  { runtime, expand }: ExecProbeDeps,
  probe: ExecProbe,
  signal: AbortSignal,
): Promise<ProbeAttempt> {
  // Only values that the manifest contains are replaced: those from secrets and the like are known to the container
  // alone.
  const variables = new Map((probe.container.env ?? []).map(({ name, value = "" }) => [name, value]));
  const cmd = expand(probe.command, (name) => variables.get(name));
  if (cmd === undefined) {
    return { result: "error", state: "unknown", message: "the command has more bytes than a program can be given" };
  }
  const { containerId, timeoutSeconds } = probe;
  const request = cri.ExecSyncRequest.fromPartial({ containerId, cmd, timeout: BigInt(timeoutSeconds) });
  try {
    const timeoutMs = timeoutSeconds * 1000 + RUNTIME_SLACK_MS;
    const { exitCode, stdout, stderr } = await runtime.execSync(request, { timeoutMs, signal });
    const output = Buffer.concat([stdout, stderr]).subarray(0, MAX_OUTPUT_BYTES).toString("utf8");
    return { result: exitCode === 0 ? "success" : "failure", output };
  } catch (error) {
    if (signal.aborted) throw error;
    if (codeOf(error) === "deadline-exceeded") {
      const command = JSON.stringify(cmd.join(" "));
      const output = `command timed out: ${command} timed out after ${formatSeconds(timeoutSeconds)}`;
      return { result: "failure", output };
    }
    return { result: "error", state: "unknown", message: runtimeWords(error) };
  }
}

/** Describes a failed call in Go's words: `rpc error: code = NotFound desc = …`. */
function runtimeWords(error: unknown): string {
  if (!isCriError(error)) return messageOf(error);
  const code = error.code === "cancelled" ? "Canceled" : error.code.split("-").map(capitalized).join("");
  return `rpc error: code = ${code} desc = ${error.detail}`;
}

function capitalized(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
