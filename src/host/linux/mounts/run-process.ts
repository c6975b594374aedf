import { spawn } from "node:child_process";
import { AbortedError, throwIfAborted } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";

/** How a process ended. */
export interface ProcessEnd {
  /** Its exit code; undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

interface ProcessOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Descriptors that it inherits, as 3 and so on. */
  readonly descriptors?: readonly number[];
}

/** More of what a process says is thrown away. */
const MAX_OUTPUT_BYTES = 64 * 1024;
/** A service is often started with a path that lacks those of the administrator. */
const PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

/**
 * Runs a program by its arguments. Past its time, or when the signal fires, it is killed with all that it started, and the
 * caller waits no longer: a process that waits for a file system that does not answer cannot be killed. Rejects with
 * `ETIMEDOUT`, with AbortedError, or with `ENOENT` for a program that is not there.
 */
export async function runProcess(file: string, args: readonly string[], options: ProcessOptions): Promise<ProcessEnd> {
  const { timeoutMs, signal, descriptors = [] } = options;
  throwIfAborted(signal);
  return await new Promise<ProcessEnd>((resolve, reject) => {
    const child = spawn(file, args, {
      stdio: ["ignore", "pipe", "pipe", ...descriptors],
      // A group of its own, so that the helpers that it starts are killed with it.
      detached: true,
      env: { PATH: `${process.env["PATH"] ?? ""}:${PATH}`, LC_ALL: "C" },
    });
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      end();
    };
    const giveUp = (error: Error) => {
      settle(() => reject(error));
      killGroup(child.pid);
      child.unref();
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const onAbort = () => giveUp(new AbortedError());
    const timer = setTimeout(() => {
      giveUp(new CodedError("ETIMEDOUT", `ETIMEDOUT: ${file} did not end within ${timeoutMs} ms`));
    }, timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    child.on("error", (error) => settle(() => reject(error)));
    child.on("close", (code) => settle(() => resolve({ code: code ?? undefined, stdout: stdout(), stderr: stderr() })));
  });
}

/** What the stream says, as text. */
function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on("data", (chunk: Buffer) => {
    if (bytes < MAX_OUTPUT_BYTES) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString().slice(0, MAX_OUTPUT_BYTES).trim();
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
