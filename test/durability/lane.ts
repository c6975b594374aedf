import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Random } from "../../src/base/random.ts";
import { checkOpened, type Known } from "./check-opened.ts";
import { type Line, parseLines, type Write } from "./lines.ts";
import { type Tear, tearLog } from "./tear-log.ts";

/** One directory that is written to, killed, perhaps torn, and opened again, many times in a row. */
interface Lane {
  readonly program: string;
  readonly directory: string;
  readonly random: Random;
}

export interface Counts {
  /** Processes killed; of these so many while they still opened the store. */
  kills: number;
  killsWhileOpening: number;
  acknowledged: number;
  /** Written, found again, but not acknowledged before the kill. */
  extra: number;
  readonly tears: Record<Tear, number>;
}

/** In milliseconds after it has opened the store; the first writes are as interesting as the later. */
const LONGEST_RUN_MS = 90;
const SHARE_KILLED_WHILE_OPENING = 0.1;
const LONGEST_OPENING_MS = 80;
const SHARE_TORN = 0.4;
const HANG_MS = 30_000;

/** Adds to the counts. Throws what was lost, with the run in which. */
export async function runLane(lane: Lane, times: number, counts: Counts): Promise<void> {
  let known: Known = { revision: 0, objects: new Map() };
  let unverified: readonly Write[] = [];
  let tear: Tear = "none";
  for (let run = 1; run <= times; run++) {
    const lines = await runUntilKilled(lane, run, known.revision);
    counts.kills++;
    const opened = lines.flatMap((line) => ("opened" in line ? [line.opened] : []))[0];
    if (opened === undefined) {
      counts.killsWhileOpening++;
      // It may have dropped the torn end, and been killed before it could tell: the next one finds nothing to tell of.
      if (tear === "added") tear = "none";
      continue;
    }
    try {
      checkMessages(lines, tear);
      const { next, extra } = checkOpened(known, unverified, opened);
      known = next;
      counts.extra += extra;
    } catch (error) {
      throw new Error(`run ${run} in ${lane.directory}, torn: ${tear}`, { cause: error });
    }
    unverified = lines.flatMap((line) => ("acknowledged" in line ? [line.acknowledged] : []));
    counts.acknowledged += unverified.length;
    const isTorn = lane.random.next() < SHARE_TORN;
    tear = isTorn ? tearLog(join(lane.directory, "journal.db-wal"), unverified.at(-1), lane.random) : "none";
    counts.tears[tear]++;
  }
}

/** A torn end is told of; nothing else is to be told. A killed process may leave a torn end by itself. */
function checkMessages(lines: readonly Line[], tear: Tear): void {
  const messages = lines.flatMap((line) => ("logged" in line ? [line] : []));
  const others = messages.filter(({ logged, message }) => logged !== "warn" || !message.includes("was dropped"));
  if (others.length > 0) throw new Error(`it said: ${others.map(({ message }) => message).join("; ")}`);
  if (tear === "added" && messages.length === 0) throw new Error("it did not tell of the torn end");
}

async function runUntilKilled({ program, directory, random }: Lane, run: number, after: number): Promise<Line[]> {
  const seed = Math.floor(random.next() * 2 ** 31);
  const killsWhileOpening = random.next() < SHARE_KILLED_WHILE_OPENING;
  const delayMs = random.next() * (killsWhileOpening ? LONGEST_OPENING_MS : LONGEST_RUN_MS);
  const child = spawn(process.execPath, [program, directory, `${run}`, `${seed}`, `${after}`], {
    stdio: "pipe",
  });
  let output = "";
  let problems = "";
  let [isOpen, killed] = [false, false];
  const kill = () => {
    killed = true;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(kill, killsWhileOpening ? delayMs : HANG_MS);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (isOpen || killsWhileOpening || !output.includes('{"opened":')) return;
    isOpen = true;
    clearTimeout(timer);
    timer = setTimeout(kill, delayMs);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  if (!killed || problems !== "") throw new Error(`run ${run} in ${directory} ended by itself: ${problems}${output}`);
  return parseLines(output);
}
