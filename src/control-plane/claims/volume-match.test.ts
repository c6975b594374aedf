import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/gen/types.ts";
import { withClaimRef } from "./volume-claim-ref.ts";
import { findMatchingVolume, hasStorageClass, isReservedFor, storageClassOf } from "./volume-match.ts";

const CLAIM: PersistentVolumeClaim = {
  metadata: { namespace: "a", name: "data", uid: "u1" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2" } } },
};

test("the class's annotation counts more than its field, and an empty one is a choice", () => {
  const annotations = { "volume.beta.kubernetes.io/storage-class": "old" };
  expect(storageClassOf({ metadata: { annotations }, spec: { storageClassName: "new" } })).toBe("old");
  expect([{}, { spec: { storageClassName: "" } }, { metadata: { annotations } }].map(hasStorageClass)).toEqual([
    false,
    true,
    true,
  ]);
});

test.each<[string, object | undefined, boolean]>([
  ["nobody", undefined, false],
  ["whoever has the name", { namespace: "a", name: "data" }, true],
  ["this one", { namespace: "a", name: "data", uid: "u1" }, true],
  ["an earlier one", { namespace: "a", name: "data", uid: "u0" }, false],
  ["one elsewhere", { namespace: "b", name: "data" }, false],
])("a volume is reserved for %s", (_case, claimRef, expected) => {
  expect(isReservedFor({ spec: { ...(claimRef && { claimRef }) } }, CLAIM)).toBe(expected);
});

describe("the volume for a claim", () => {
  const volumes = fc.uniqueArray(
    fc.record({
      size: fc.integer({ min: 0, max: 4 }),
      modes: fc.subarray(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"], { minLength: 1 }),
      phase: fc.constantFrom("Available", "Pending", "Released"),
      zone: fc.constantFrom("x", "y"),
      owner: fc.option(fc.constantFrom("data", "other")),
    }),
    { maxLength: 6 },
  );

  test("is large enough, offers what is asked for, is nobody else's, can be reached; and none fits better", () => {
    fc.assert(
      fc.property(volumes, (parts) => {
        const all = parts.map(({ size, modes, phase, zone, owner }, index): PersistentVolume => {
          const required = {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }],
          };
          return {
            metadata: { name: `v${index}` },
            spec: {
              capacity: { storage: String(size) },
              accessModes: modes,
              nodeAffinity: { required },
              ...(owner && { claimRef: { namespace: "a", name: owner } }),
            },
            status: { phase },
          };
        });
        const node = { name: "n1", labels: { zone: "x" } };
        const found = findMatchingVolume(CLAIM, all, { node });
        const usable = parts.map(({ size, modes }) => size >= 2 && modes.includes("ReadWriteOnce"));
        const reserved = parts.findIndex(({ owner }, index) => owner === "data" && usable[index]);
        const free = parts.flatMap(({ size, owner, phase, zone }, index) => {
          return usable[index] && owner === null && phase === "Available" && zone === "x" ? [size] : [];
        });
        if (reserved >= 0) {
          expect(found?.metadata?.name).toBe(parts[reserved]?.zone === "x" ? `v${reserved}` : undefined);
        } else if (free.length === 0) expect(found).toBeUndefined();
        else expect(Number(found?.spec?.capacity?.["storage"])).toBe(Math.min(...free));
      }),
    );
  });

  test("is none while its class waits for a pod, unless one is reserved for it", () => {
    const volume = (claimRef?: object): PersistentVolume => ({
      spec: { capacity: { storage: "2" }, accessModes: ["ReadWriteOnce"], ...(claimRef && { claimRef }) },
      status: { phase: "Available" },
    });
    expect(findMatchingVolume(CLAIM, [volume()], { isDelayed: true })).toBeUndefined();
    expect(findMatchingVolume(CLAIM, [volume({ namespace: "a", name: "data" })], { isDelayed: true })).toBeDefined();
  });
});

describe("a reference to the claim", () => {
  test("is marked as ours where the volume was free, and not where it was reserved", () => {
    const free = withClaimRef({ metadata: { name: "v1" } }, CLAIM);
    expect(free).toEqual({
      metadata: { name: "v1", annotations: { "pv.kubernetes.io/bound-by-controller": "yes" } },
      spec: { claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "a", name: "data", uid: "u1" } },
    });
    const reserved = withClaimRef({ spec: { claimRef: { namespace: "a", name: "data" } } }, CLAIM);
    expect(reserved?.metadata?.annotations).toBeUndefined();
    expect(reserved?.spec?.claimRef?.uid).toBe("u1");
  });

  test("that is there already is not written again", () => {
    expect(withClaimRef({ spec: { claimRef: { namespace: "a", name: "data", uid: "u1" } } }, CLAIM)).toBeUndefined();
  });
});
