import fc from "fast-check";
import { expect, it } from "vitest";
import { createPodCpuTotals } from "./pod-cpu-totals.ts";

it("counts on when a container ends and another takes its place", () => {
  const totals = createPodCpuTotals();
  expect(
    totals.observe(
      "pod",
      new Map([
        ["sandbox", 1],
        ["first", 100],
      ]),
    ),
  ).toBe(101);
  expect(
    totals.observe(
      "pod",
      new Map([
        ["sandbox", 1],
        ["second", 5],
      ]),
    ),
  ).toBe(106);
  expect(
    totals.observe(
      "pod",
      new Map([
        ["sandbox", 2],
        ["second", 50],
      ]),
    ),
  ).toBe(152);
  expect(totals.observe("other", new Map([["x", 7]]))).toBe(7);
  totals.retain(new Set(["other"]));
  expect(totals.observe("pod", new Map([["sandbox", 2]]))).toBe(2);
});

it("never goes back while the counters do not", () => {
  const growths = fc.array(fc.dictionary(fc.constantFrom("a", "b", "c"), fc.nat(1_000)), { maxLength: 20 });
  fc.assert(
    fc.property(growths, (steps) => {
      const totals = createPodCpuTotals();
      const counters = new Map<string, number>();
      let last = 0;
      for (const [step, growth] of steps.entries()) {
        // A container that is missing here has ended. The next container of the same name has another id.
        const now = new Map(
          Object.entries(growth).map(([name, used]) => {
            const isOn = steps[step - 1]?.[name] !== undefined;
            const id = isOn ? ([...counters.keys()].findLast((key) => key.startsWith(name)) ?? name) : `${name}${step}`;
            return [id, (counters.get(id) ?? 0) + used] as const;
          }),
        );
        for (const [id, used] of now) counters.set(id, used);
        const total = totals.observe("pod", now);
        expect(total).toBeGreaterThanOrEqual(last);
        expect(total).toBe([...counters.values()].reduce((sum, used) => sum + used, 0));
        last = total;
      }
    }),
  );
});
