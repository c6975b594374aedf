import type { Readable } from "node:stream";
import { AbortedError, throwIfAborted } from "../../../base/abort.ts";
import { createByteCollector } from "../../../base/byte-collector.ts";
import type { Clock } from "../../../base/clock.ts";
import type { ProgramOutcome, ProgramRun } from "../../programs-port.ts";
import { type StartedProcess, startProcess } from "./start-process.ts";

const MAX_STDOUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 1024;
/**
 * The time from the end of a program to the end of its pipes. Both are the same moment unless other processes hold the
 * pipes.
 */
const PIPE_GRACE_MS = 1_000;

/** See `Programs.run`. */
export async function runProgram(run: ProgramRun, clock: Clock, signal?: AbortSignal): Promise<ProgramOutcome> {
  throwIfAborted(signal);
  const { stdin, timeoutMs, output = {} } = run;
  const { maxBytes = MAX_STDOUT_BYTES, atLimit = "fail", maxErrorBytes = MAX_STDERR_BYTES } = output;
  const started = startProcess(run, {
    clock,
    stdin: stdin === undefined ? "ignore" : "pipe",
    pipeGraceMs: PIPE_GRACE_MS,
  });
  started.stdin?.end(stdin);
  const stdout = collect(started.stdout, maxBytes, () => {
    if (atLimit === "cut") return;
    started.stop({ cause: "too-much-output", problem: `printed more than ${maxBytes} bytes` });
  });
  const stderr = collect(started.stderr, maxErrorBytes);
  const end = await withinLimits(started, { clock, timeoutMs, signal }, async () => await started.ended);
  if (end.kind === "missing") return end;
  if (end.kind === "ended") return { kind: "printed", stdout: stdout() };
  return { ...end, stdout: stdout(), stderr: stderr().toString("utf8").trim() };
}

interface Limits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Stops the process when its time is over or the signal fires. Rejects with `AbortedError` after the signal has fired.
 */
export async function withinLimits<T>(
  started: StartedProcess,
  { clock, timeoutMs, signal }: Limits,
  task: () => Promise<T>,
): Promise<T> {
  const timer = clock.setTimer(timeoutMs, () =>
    started.stop({ cause: "timed-out", problem: `did not end within ${timeoutMs} ms` }),
  );
  const onAbort = () => started.stop({ cause: "signal", problem: "was stopped" });
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const result = await task();
    if (signal?.aborted) throw new AbortedError();
    return result;
  } finally {
    timer.cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Reads a stream to its end and keeps its first `maxBytes`; `onTooMuch` is called for each piece that does not fit. */
function collect(stream: Readable, maxBytes: number, onTooMuch?: () => void): () => Buffer {
  const collected = createByteCollector();
  stream.on("data", (chunk: Buffer) => {
    if (collected.length + chunk.length > maxBytes) onTooMuch?.();
    collected.add(chunk.subarray(0, maxBytes - collected.length));
  });
  return () => collected.take();
}
