import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFakeClock, type FakeClock } from "../../fake/fake-clock.ts";
import { acquireFileLock } from "./file-lock.ts";

let directory = "";
let path = "";
let clock: FakeClock;
let waits: number;
const stopping = new AbortController();
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "file-lock-"));
  path = join(directory, "kubelet.lock");
  clock = createFakeClock();
  waits = 0;
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const acquire = async (signal: AbortSignal = stopping.signal) =>
  await acquireFileLock(path, { clock, onWait: () => void waits++ }, signal);

it("makes the file, and has the lock until it is released", async () => {
  const first = await acquire();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  let second: unknown;
  const waiting = acquire().then((lock) => {
    second = lock;
    return lock;
  });
  await vi.waitFor(() => expect(waits).toBe(1));
  await clock.advance(10_000);
  expect([second, waits]).toEqual([undefined, 1]);
  await first.release();
  await clock.advance(250);
  await (await waiting).release();
});

it("stops to wait when it is asked to, and leaves the lock to others", async () => {
  const first = await acquire();
  const stop = new AbortController();
  const waiting = acquire(stop.signal);
  await vi.waitFor(() => expect(waits).toBe(1));
  stop.abort();
  await expect(waiting).rejects.toThrow("aborted");
  await first.release();
  await (await acquire()).release();
  expect(waits).toBe(1);
});

it("tells when somebody opens the file", async () => {
  const lock = await acquire();
  let onWatching: () => void = () => undefined;
  const watched = new Promise<void>((resolve) => {
    onWatching = resolve;
  });
  const wanted = lock.untilWanted(onWatching, stopping.signal);
  await watched;
  await (await open(path, "r")).close();
  await wanted;
  await lock.release();
});

it("stops to watch when it is asked to", async () => {
  const lock = await acquire();
  const stop = new AbortController();
  const wanted = lock.untilWanted(() => stop.abort(), stop.signal);
  await expect(wanted).rejects.toMatchObject({ name: "AbortError" });
  await lock.release();
});

it("names what cannot be opened", async () => {
  path = directory;
  await expect(acquire()).rejects.toMatchObject({ code: "EISDIR" });
  path = "/nowhere/kubelet.lock";
  await expect(acquire()).rejects.toMatchObject({ code: "ENOENT" });
});
