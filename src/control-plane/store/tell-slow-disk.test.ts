import { expect, it } from "vitest";
import { SECOND } from "../../base/clock.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createMemoryJournal } from "../../journal/memory-journal.ts";
import { tellSlowDisk } from "./tell-slow-disk.ts";

function rig() {
  const clock = createFakeClock();
  const told: string[] = [];
  const tell = (message: string, fields: object = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
  const disk = { answer: (): void => undefined };
  const slow = {
    ...createMemoryJournal(),
    append: async () => await new Promise<void>((resolve) => (disk.answer = resolve)),
  };
  return { clock, told, disk, journal: tellSlowDisk(slow, { clock, log: { warn: tell, info: tell } }) };
}

it("tells once when the disk takes longer than five seconds, and when it answers", async () => {
  const { clock, told, disk, journal } = rig();
  const writing = journal.append([]);
  await clock.advance(160 * SECOND);
  const waiting = 'The disk of the control plane is slow, and all writes wait for it {"waitedMs":5000}';
  expect(told).toEqual([waiting]);
  disk.answer();
  await writing;
  expect(told).toEqual([waiting, 'The disk of the control plane has answered {"afterMs":160000}']);
});

it("tells nothing of a disk that answers, and leaves no timer", async () => {
  const { clock, told, disk, journal } = rig();
  const writing = journal.append([]);
  await clock.advance(4 * SECOND);
  disk.answer();
  await writing;
  await clock.advance(60 * SECOND);
  expect([told, clock.pendingTimers]).toEqual([[], 0]);
});
