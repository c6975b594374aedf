import { closeSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs";
import type { Random } from "../../src/base/random.ts";
import type { Write } from "./lines.ts";

const HEADER = 32;
const FRAME_HEADER = 24;
const PAGE = 4096;
/** Without its last bit, which tells how the checksums are computed. */
const MAGIC = 0x377f0682 >>> 1;
const FRAME = FRAME_HEADER + PAGE;

/** What was done to the log: nothing, the beginning of another write added, or a write broken that nobody was told of. */
export type Tear = "none" | "added" | "broken";

/**
 * Does to SQLite's write-ahead log what a power failure does to it: of the write that was not flushed yet any part may
 * have reached the disk. Kills alone do not, because what a process has written stays with the system.
 * Parsed here once more, so that the journal is not tested with its own reading of the format.
 */
export function tearLog(path: string, last: Write | undefined, random: Random): Tear {
  const log = readLog(path);
  if (log === undefined) return "none";
  const { content, transactions, isBegun } = log;
  const protectedEnd = findProtectedEnd(log, last);
  const { start, end } = transactions.at(-1) ?? { start: HEADER, end: HEADER };
  // A next one is begun when the one before is flushed, whether or not its writer came to tell of it.
  const isFlushed = isBegun || protectedEnd === undefined || protectedEnd > start;
  return isFlushed ? addTear(path, content, end, random) : breakAfter(path, start, random);
}

interface WalLog {
  readonly content: Buffer;
  readonly transactions: ReadonlyArray<{ start: number; end: number }>;
  /** Another one follows, and has not come to its end. */
  readonly isBegun: boolean;
}

function readLog(path: string): WalLog | undefined {
  const content = statSync(path, { throwIfNoEntry: false }) ? readFileSync(path) : Buffer.alloc(0);
  // A log without SQLite's header is one that counts as empty, and keeps its place on the disk.
  if (content.length < HEADER + FRAME || content.readUInt32BE(0) >>> 1 !== MAGIC) return undefined;
  const salt = content.subarray(16, 24);
  const isInUse = (at: number) => content.subarray(at + 8, at + 16).equals(salt);
  const transactions: Array<{ start: number; end: number }> = [];
  let sums = readSums(content, 24);
  let start = HEADER;
  let at = HEADER;
  for (; at + FRAME <= content.length && isInUse(at); at += FRAME) {
    sums = addSums(content, { from: at, length: 8 }, sums);
    sums = addSums(content, { from: at + FRAME_HEADER, length: PAGE }, sums);
    // A kill comes between the header of a frame and its page, too: such a write was never whole.
    if (!isSame(sums, readSums(content, at + 16))) break;
    if (content.readUInt32BE(at + 4) === 0) continue;
    transactions.push({ start, end: at + FRAME });
    start = at + FRAME;
  }
  return { content, transactions, isBegun: at > start || isInUse(at) };
}

/** The checksums of SQLite's write-ahead log: https://www.sqlite.org/fileformat2.html#walformat */
type Sums = readonly [number, number];

function readSums(content: Buffer, at: number): Sums {
  return [content.readUInt32BE(at), content.readUInt32BE(at + 4)];
}

const isSame = (a: Sums, b: Sums) => a[0] === b[0] && a[1] === b[1];

function addSums(content: Buffer, { from, length }: { from: number; length: number }, [first, second]: Sums): Sums {
  const isBigEndian = (content.readUInt32BE(0) & 1) === 1;
  const read = (at: number) => (isBigEndian ? content.readUInt32BE(at) : content.readUInt32LE(at));
  let [a, b] = [first, second];
  for (let at = from; at < from + length; at += 8) {
    a = (a + read(at) + b) >>> 0;
    b = (b + read(at + 4) + a) >>> 0;
  }
  return [a, b];
}

/** Where the transaction ends that brought the last acknowledged write; undefined when it is not in the log. */
function findProtectedEnd({ content, transactions }: WalLog, last: Write | undefined): number | undefined {
  if (last === undefined) return undefined;
  const mark = `"run":${last.run},"sequence":${last.sequence},`;
  return transactions.find(({ start, end }) => content.subarray(start, end).includes(mark))?.end;
}

/** The first frames of a write that never came to its end, the last of them perhaps cut. */
function addTear(path: string, content: Buffer, end: number, random: Random): Tear {
  const frames = 1 + Math.floor(random.next() * 4);
  const tear = randomBytes(frames * FRAME, random);
  for (let at = 0; at < tear.length; at += FRAME) {
    tear.writeUInt32BE(2, at);
    tear.writeUInt32BE(at + FRAME === tear.length && random.next() < 0.5 ? 9 : 0, at + 4);
    content.copy(tear, at + 8, 16, 24);
  }
  const kept =
    random.next() < 0.5 ? tear.length : FRAME_HEADER + Math.floor(random.next() * (tear.length - FRAME_HEADER));
  truncateSync(path, end);
  writeAt(path, end, tear.subarray(0, kept));
  return "added";
}

/**
 * Cut somewhere, or with noise somewhere, within one frame: noise that ends in the next one's header, just before its
 * salt, would forge the end of a transaction, and the journal rightly tells of a loss where it cannot know better.
 */
function breakAfter(path: string, start: number, random: Random): Tear {
  const { size } = statSync(path);
  const at = start + Math.floor(random.next() * (size - start));
  const frameEnd = at + FRAME - ((at - HEADER) % FRAME);
  if (random.next() < 0.5) truncateSync(path, at);
  else writeAt(path, at, randomBytes(Math.min(64, size - at, frameEnd - at), random));
  return "broken";
}

function writeAt(path: string, position: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

function randomBytes(length: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random.next() * 256)));
}
