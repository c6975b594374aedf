import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTokenBucket } from "./token-bucket.ts";

describe("a token bucket", () => {
  it("gives a burst, and then as many as time brings", () => {
    const bucket = createTokenBucket({ perSecond: 1 / 300, burst: 25 }, 0);
    const taken = (now: number) => {
      let count = 0;
      while (bucket.tryTake(now)) count++;
      return count;
    };
    expect(taken(0)).toBe(25);
    expect(taken(299_999)).toBe(0);
    expect(taken(300_000)).toBe(1);
    expect(taken(900_000)).toBe(2);
    expect(taken(100_000_000)).toBe(25);
  });

  it("tells how long it is until the next token", () => {
    const bucket = createTokenBucket({ perSecond: 50, burst: 1 }, 0);
    expect(bucket.waitMs(0)).toBe(0);
    expect(bucket.tryTake(0)).toBe(true);
    expect([0, 5, 20].map((now) => bucket.waitMs(now))).toEqual([20, 15, 0]);
  });

  it("never gives more than its burst and what time brought", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (delays, burst) => {
        const bucket = createTokenBucket({ perSecond: 10, burst }, 0);
        let now = 0;
        let taken = 0;
        for (const delay of delays) {
          now += delay;
          while (bucket.tryTake(now)) taken++;
        }
        expect(taken).toBeLessThanOrEqual(burst + now / 100 + 1e-6);
      }),
    );
  });
});
