import fc from "fast-check";
import { expect, it } from "vitest";
import { findExceededVolumeLimit, type LimitedVolume } from "./volume-limit.ts";

const volumes = (text: string): LimitedVolume[] =>
  text.split(" ").flatMap((word) => {
    const [driver = "", handle = ""] = word.split("/");
    return word === "" ? [] : [{ driver, handle }];
  });

it.each<[what: string, pod: string, inUse: string, limits: Record<string, number>, driver: string | undefined]>([
  ["fits exactly", "a/1 a/2", "a/3", { a: 3 }, undefined],
  ["is one too many", "a/1 a/2", "a/3 a/4", { a: 3 }, "a"],
  ["shares a volume with another pod", "a/1", "a/1 a/2", { a: 2 }, undefined],
  ["names one volume twice", "a/1 a/1", "a/2", { a: 2 }, undefined],
  ["finds one volume in use twice", "a/1", "a/2 a/2", { a: 2 }, undefined],
  ["uses a driver without a limit", "b/1", "b/2 b/3", { a: 1 }, undefined],
  [
    "brings nothing new to a driver that is over its limit already",
    "a/1 b/1",
    "a/1 a/2 a/3",
    { a: 1, b: 1 },
    undefined,
  ],
  ["has the same handle at another driver", "b/1", "a/1", { b: 1 }, undefined],
  ["is refused by its second driver", "a/1 b/1", "b/2", { a: 1, b: 1 }, "b"],
  ["may have none at all", "a/1", "", { a: 0 }, "a"],
  ["has no volumes", "", "a/1", { a: 0 }, undefined],
])("a pod that %s", (_what, pod, inUse, limits, driver) => {
  const question = { podVolumes: volumes(pod), inUse: volumes(inUse), limits: new Map(Object.entries(limits)) };
  const expected = driver === undefined ? undefined : { driver, limit: limits[driver] };
  expect(findExceededVolumeLimit(question)).toEqual(expected);
});

it("is the same whatever the order, and never refuses what is admitted already", () => {
  const volume = fc.record({ driver: fc.constantFrom("a", "b"), handle: fc.constantFrom("1", "2", "3", "4") });
  fc.assert(
    fc.property(fc.array(volume), fc.array(volume), fc.nat(4), fc.nat(4), (podVolumes, inUse, a, b) => {
      const limits = new Map([
        ["a", a],
        ["b", b],
      ]);
      const refused = findExceededVolumeLimit({ podVolumes, inUse, limits }) !== undefined;
      const turned = { podVolumes: podVolumes.toReversed(), inUse: inUse.toReversed(), limits };
      expect(findExceededVolumeLimit(turned) !== undefined).toBe(refused);
      expect(findExceededVolumeLimit({ podVolumes, inUse: [...inUse, ...podVolumes], limits })).toBeUndefined();
    }),
  );
});
