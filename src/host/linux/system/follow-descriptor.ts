import { Worker } from "node:worker_threads";
import { CodedError } from "../../../base/errors.ts";
import { runInBackground } from "../../../base/tasks.ts";

/** What makes a descriptor ready: `input`, which is then read and thrown away, or `priority`, as of pressure triggers. */
type Readiness = "input" | "priority";

/** The flags of poll(2). */
const FLAGS = { input: 0x1, priority: 0x2 } as const satisfies Record<Readiness, number>;

/**
 * The program of the thread. It comes back from poll(2) four times a second, because a thread that is in the kernel
 * cannot be ended. What was ready is told once until the other side has taken it, so that no queue grows. A descriptor
 * with an error tells nothing any more, and ends the thread.
 */
const PROGRAM = `
const { readSync } = require("node:fs");
const { createRequire } = require("node:module");
const { parentPort, workerData } = require("node:worker_threads");
const { descriptor, flag, from, told } = workerData;
const koffi = createRequire(from)("koffi");
const entry = koffi.struct({ fd: "int", events: "short", revents: "short" });
const poll = koffi.load(null).func("poll", "int", [koffi.inout(koffi.pointer(entry)), "unsigned long", "int"]);
const isTold = new Int32Array(told);
const input = Buffer.alloc(65536);
const look = () => {
  const entries = [{ fd: descriptor, events: flag, revents: 0 }];
  const count = poll(entries, 1, 250);
  const { revents } = entries[0];
  if (count > 0 && (revents & flag) === 0) throw new Error("the descriptor has an error");
  if (count > 0) {
    try {
      if (flag === 1) readSync(descriptor, input);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
    if (Atomics.exchange(isTold, 0, 1) === 0) parentPort.postMessage(true);
  }
  setImmediate(look);
};
look();
`;

/**
 * Calls `onReady` each time that a descriptor is ready; Node.js cannot wait for those of inotify, eventfd and pressure
 * triggers. It takes a thread of its own. Resolves when the signal fires and the thread has ended, a quarter of a second
 * later at most; the descriptor may be closed then, and not before. Rejects with `follow-failed` when the thread cannot
 * go on.
 */
export async function followDescriptor(
  { descriptor, readiness }: { readonly descriptor: number; readonly readiness: Readiness },
  onReady: () => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const told = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const isTold = new Int32Array(told);
  const workerData = { descriptor, flag: FLAGS[readiness], from: import.meta.url, told };
  const worker = new Worker(PROGRAM, { eval: true, workerData, execArgv: [] });
  await new Promise<void>((resolve, reject) => {
    const end = () => runInBackground(async () => await worker.terminate(), reject);
    signal.addEventListener("abort", end, { once: true });
    worker.on("message", () => {
      Atomics.store(isTold, 0, 0);
      if (!signal.aborted) onReady();
    });
    worker.once("error", (cause) => {
      reject(new CodedError("follow-failed", `descriptor ${descriptor}: ${cause.message}`, { cause }));
    });
    worker.once("exit", () => {
      signal.removeEventListener("abort", end);
      if (signal.aborted) resolve();
      else reject(new CodedError("follow-failed", `descriptor ${descriptor}: its thread has ended`));
    });
  });
}
