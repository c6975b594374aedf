import { expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { AbortedError } from "./abort.ts";
import { createPace } from "./pace.ts";

it("lets the credit be spent at once, and what comes back in a second in each second after it", async () => {
  const clock = createFakeClock();
  const pace = createPace(clock, { perSecond: 10, credit: 20 });
  const { signal } = new AbortController();
  let done = 0;
  const work = (async () => {
    for (; done < 50; done++) await pace.rest(1, signal);
  })();
  await clock.settle();
  expect(done).toBe(20);
  await clock.advance(1_000);
  expect(done).toBe(30);
  await clock.advance(2_000);
  await work;
  await clock.advance(60_000);
  await pace.rest(20, signal);
});

it("a piece of work that costs more than all of the credit is rested for", async () => {
  const clock = createFakeClock();
  const pace = createPace(clock, { perSecond: 10, credit: 20 });
  let isOver = false;
  const resting = pace.rest(120, new AbortController().signal).then(() => {
    isOver = true;
  });
  await clock.advance(9_999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await resting;
});

it("is given up on by who is told to end", async () => {
  const leaving = new AbortController();
  const resting = createPace(createFakeClock(), { perSecond: 1, credit: 1 }).rest(9, leaving.signal);
  leaving.abort();
  await expect(resting).rejects.toThrow(AbortedError);
});
