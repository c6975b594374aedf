import type { Readable } from "node:stream";
import { throwIfAborted } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { StreamedProgramOutcome, StreamedRun } from "../../programs-port.ts";
import { withinLimits } from "./run-program.ts";
import { startProcess } from "./start-process.ts";

/** See `Programs.stream`. Standard output and errors take turns, so that one portion is under way at a time. */
export async function streamProgram(
  run: StreamedRun,
  write: (bytes: Buffer) => Promise<void>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<StreamedProgramOutcome> {
  throwIfAborted(signal);
  const { stdin, timeoutMs } = run;
  const started = startProcess(run, { clock, stdin: stdin === undefined ? "ignore" : "pipe" });
  started.stdin?.end(stdin);
  const turns = createLimiter(1);
  let refusal: { readonly error: unknown } | undefined;
  const take = async (bytes: Buffer) => {
    try {
      if (refusal === undefined) await write(bytes);
    } catch (error) {
      refusal = { error };
      started.stop({ cause: "signal", problem: "nobody reads any more" });
    }
  };
  const forward = async (from: Readable) => {
    try {
      for await (const bytes of from) await turns.run(async () => await take(bytes));
    } catch {
      // The pipes of a stopped process break. Its end says why.
    }
  };
  const end = await withinLimits(started, { clock, timeoutMs, signal }, async () => {
    await Promise.all([forward(started.stdout), forward(started.stderr)]);
    return await started.ended;
  });
  if (refusal !== undefined) throw refusal.error;
  return end.kind === "failed" ? { ...end, stdout: Buffer.alloc(0), stderr: "" } : end;
}
