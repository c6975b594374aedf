import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Assignment, ChildMessage } from "./child.ts";
import type { FuzzResult } from "./fuzz-target.ts";
import type { Verdict } from "./judge.ts";

/** What became of a target's process. */
export interface ChildOutcome {
  readonly findings: readonly { readonly verdict: Verdict; readonly input: Buffer }[];
  /** Undefined when the process did not come to its end. */
  readonly result: FuzzResult | undefined;
}

interface ChildLimits {
  /** A process that says nothing while it takes so much of a processor runs in circles. */
  readonly silentBusyMs: number;
  /** More than any target needs; what asks for more at one input is a finding. */
  readonly heapMegabytes: number;
}

const LIMITS: ChildLimits = { silentBusyMs: 30_000, heapMegabytes: 512 };
const LOOK_MS = 1_000;
/** One that says nothing and computes nothing waits for something that does not come. */
const SILENT_MS = 300_000;

/** Runs one target in a process, and ends the process when it computes for so long without a word. */
export async function watchChild(assignment: Assignment, limits: Partial<ChildLimits> = {}): Promise<ChildOutcome> {
  const { silentBusyMs, heapMegabytes } = { ...LIMITS, ...limits };
  const findings: Array<{ verdict: Verdict; input: Buffer }> = [];
  let result: FuzzResult | undefined;
  const execArgv = ["--import", import.meta.resolve("tsx"), `--max-old-space-size=${heapMegabytes}`];
  const child = fork(join(import.meta.dirname, "child.ts"), [JSON.stringify(assignment)], {
    execArgv,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  let isSilentSince = performance.now();
  let busyAtLastWord = 0;
  child.on("message", (message: ChildMessage) => {
    isSilentSince = performance.now();
    busyAtLastWord = readBusyMs(child.pid);
    if ("verdict" in message) {
      findings.push({ verdict: message.verdict, input: Buffer.from(message.inputBase64, "base64") });
    }
    if ("result" in message) {
      result = { ...message.result, reached: message.reachedBase64.map((text) => Buffer.from(text, "base64")) };
    }
  });
  const timer = setInterval(() => {
    const busyMs = readBusyMs(child.pid) - busyAtLastWord;
    const silentMs = performance.now() - isSilentSince;
    if (busyMs < silentBusyMs && silentMs < SILENT_MS) return;
    const message = `no end after ${(busyMs / 1000).toFixed(0)} s of processor, ${(silentMs / 1000).toFixed(0)} s`;
    findings.push({ verdict: { kind: "hang", message }, input: readCurrent(assignment.currentFile) });
    child.kill("SIGKILL");
  }, LOOK_MS);
  const ended = await new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(String(code ?? signal)));
  });
  clearInterval(timer);
  if (result === undefined && findings.length === 0) {
    const message = `the process ended with ${ended}\n${errors.trim()}`;
    findings.push({ verdict: { kind: "crash", message }, input: readCurrent(assignment.currentFile) });
  }
  return { findings, result };
}

/** The child's time of the processor; 0 when it has gone. */
function readBusyMs(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}

/** What the child had written before it ended. */
function readCurrent(path: string): Buffer {
  const bytes = readFileSync(path);
  if (bytes.length < 8) return Buffer.alloc(0);
  return bytes.subarray(8, 8 + Number(bytes.readBigUInt64BE()));
}
