import fc from "fast-check";
import { expect, it } from "vitest";
import { pickOffset, reservedOf } from "./pick-offset.ts";
import { createPortPicker } from "./pick-port.ts";

const FIRST = 30_000;

it("picks the ports that are picked one by one, in any range and by any chance, until none is left", () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const drawn = fc.record({
    count: fc.integer({ min: 1, max: 200 }),
    others: fc.array(fc.integer({ min: 0, max: 199 })),
    chances: fc.array(chance, { minLength: 1, maxLength: 20 }),
  });
  fc.assert(
    fc.property(drawn, ({ count, others, chances }) => {
      const taken = [new Set(others.map((offset) => FIRST + offset)), new Set(others.map((offset) => FIRST + offset))];
      const [mine = new Set<number>(), theirs = new Set<number>()] = taken;
      let turn = 0;
      const random = () => chances[turn % chances.length] ?? 0;
      const pick = createPortPicker({ first: FIRST, last: FIRST + count - 1, random }, (port) => mine.has(port));
      const reserved = reservedOf(BigInt(count), { share: 32n, most: 128n });
      for (; turn <= count; turn++) {
        const offset = pickOffset({ count: BigInt(count), reserved, random }, (one) => theirs.has(FIRST + Number(one)));
        const expected = offset === undefined ? undefined : FIRST + Number(offset);
        const picked = pick();
        expect(picked).toBe(expected);
        if (picked === undefined) break;
        mine.add(picked);
        theirs.add(picked);
      }
    }),
  );
});

it("looks at a port twice at most on the whole, and once more for each that it picks", () => {
  const count = 2_768;
  const taken = new Set<number>();
  let looks = 0;
  const isTaken = (port: number) => {
    looks++;
    return taken.has(port);
  };
  const pick = createPortPicker({ first: FIRST, last: FIRST + count - 1, random: () => 0.5 }, isTaken);
  for (let index = 0; index < count; index++) taken.add(pick() ?? 0);
  expect(pick()).toBeUndefined();
  expect(looks).toBeLessThan(3 * count);
});
