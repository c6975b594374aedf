import { expect, test } from "vitest";
import { createReplayedChance } from "./replayed-chance.ts";

test("chance repeats itself for the attempts at one decision, and for nobody else", async () => {
  let made = 0;
  const next = () => ++made;
  const chance = createReplayedChance({ number: next, uuid: () => `uid-${next()}`, now: next });
  const tape = chance.record();
  const attempt = async () => [chance.number(), chance.uuid(), chance.number(), chance.now()];
  const first = await tape.play(attempt);
  expect(first).toEqual([1, "uid-2", 3, 4]);
  expect(chance.number()).toBe(5);
  expect(await tape.play(attempt)).toEqual(first);
  const longer = async () => [...(await attempt()), chance.number()];
  expect(await tape.play(longer)).toEqual([...first, 6]);
});

test("an attempt that waits gives chance back to others meanwhile", async () => {
  let made = 0;
  const next = () => ++made;
  const chance = createReplayedChance({ number: next, uuid: String, now: next });
  const tape = chance.record();
  const waiting = tape.play(async () => {
    const before = chance.number();
    await Promise.resolve();
    return [before, chance.number()];
  });
  expect(chance.number()).toBe(2);
  expect(await waiting).toEqual([1, 3]);
});
