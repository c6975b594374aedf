import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { readCorpus } from "./corpus.ts";
import { type FuzzResult, fuzzTarget } from "./fuzz-target.ts";
import { createJudge, describe, type Verdict } from "./judge.ts";
import { loadTarget } from "./targets/all.ts";

/** What the parent process asks for. */
export interface Assignment {
  readonly target: string;
  readonly seed: number;
  readonly forMs: number;
  /** So many fresh inputs, or as many as the target says, instead of as many as there is time for. */
  readonly runs?: number | "fixed" | undefined;
  /** The input that is under way stands in this file: its length in eight bytes, then its bytes. */
  readonly currentFile: string;
  /** Runs this one input alone. */
  readonly inputFile?: string | undefined;
}

export type ChildMessage =
  | { readonly alive: true }
  | { readonly verdict: Verdict; readonly inputBase64: string }
  | { readonly result: Omit<FuzzResult, "reached">; readonly reachedBase64: readonly string[] };

const BEAT_MS = 1_000;
/** The exit code of a process that was ended by an error that nobody caught. */
const CRASHED = 70;

const assignment: Assignment = JSON.parse(process.argv[2] ?? "{}");
const current = openSync(assignment.currentFile, "w+");
let input: Buffer = Buffer.alloc(0);
let lastBeat = 0;
let isEnding = false;

process.on("uncaughtException", (error, origin) => void endBy(error, origin));
process.on("unhandledRejection", (error) => void endBy(error, "unhandledRejection"));
setInterval(alive, BEAT_MS).unref();

const target = await loadTarget(assignment.target);
if (assignment.inputFile !== undefined) await replay(readFileSync(assignment.inputFile));
else {
  const corpus = readCorpus(assignment.target);
  const runs = assignment.runs === "fixed" ? target.runs : assignment.runs;
  const { reached, ...result } = await fuzzTarget(target, { ...assignment, runs, corpus }, { begins, found, alive });
  await delivered({ result, reachedBase64: reached.map((bytes) => bytes.toString("base64")) });
}
closeSync(current);
// Connections of a target may be left; they are of no use to anybody.
process.disconnect();
process.exit(0);

async function replay(bytes: Buffer): Promise<void> {
  const running = await target.setUp();
  const judge = createJudge(running);
  begins(bytes);
  const verdict = await judge.judge(bytes);
  if (verdict !== undefined) found(verdict, bytes);
  await running.settle?.();
  const { slowestMs } = judge;
  await delivered({
    result: { runs: 1, corpus: 0, functions: 0, slowestMs, memory: { before: 0, after: 0 } },
    reachedBase64: [],
  });
}

function begins(bytes: Buffer): void {
  input = bytes;
  const head = Buffer.alloc(8);
  head.writeBigUInt64BE(BigInt(bytes.length));
  writeSync(current, Buffer.concat([head, bytes]), 0, bytes.length + 8, 0);
}

function found(verdict: Verdict, bytes: Buffer): void {
  send({ verdict, inputBase64: bytes.toString("base64") });
}

function alive(): void {
  const now = performance.now();
  if (now - lastBeat < BEAT_MS) return;
  lastBeat = now;
  send({ alive: true });
}

function send(message: ChildMessage): void {
  process.send?.(message);
}

/** Sends, and waits until the message, with all before it, has left this process. */
async function delivered(message: ChildMessage): Promise<void> {
  await new Promise<void>((resolve) => void process.send?.(message, () => resolve()));
}

/** An error that nobody caught may be of an earlier input: what ran last is the best guess. */
function endBy(error: unknown, origin: string): void {
  if (isEnding) return;
  isEnding = true;
  const { kind, message } = describe(error);
  const verdict = { kind, message: `${origin}: ${message}` };
  process.send?.({ verdict, inputBase64: input.toString("base64") }, () => process.exit(CRASHED));
}
