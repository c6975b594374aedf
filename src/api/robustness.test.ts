import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeObject } from "./decode.ts";
import { defaultPod } from "./defaults.ts";
import { SCHEMA } from "./gen/schema.ts";
import { parseManifest } from "./manifest.ts";
import { podContainers } from "./pods.ts";
import { computeQosClass } from "./qos.ts";
import { computePodLimits, computePodRequests } from "./resources.ts";
import { validatePod } from "./validate-pod.ts";

/** Values of the type that the schema declares, now and then something else; recursion is cut by depth. */
function arbitraryOf(declared: string, depth: number): fc.Arbitrary<unknown> {
  const type = declared.replace(/!$/, "");
  if (type.startsWith("[]"))
    return fc.array(fc.oneof(arbitraryOf(type.slice(2), depth + 1), fc.constant(null)), { maxLength: 3 });
  if (type.startsWith("{}"))
    return fc.dictionary(fc.string({ maxLength: 8 }), arbitraryOf(type.slice(2), depth + 1), { maxKeys: 3 });
  const fields = SCHEMA[type];
  if (fields) return depth > 9 ? fc.constant({}) : structOf(fields, depth);
  if (type === "boolean") return fc.boolean();
  if (/^int|^double/.test(type)) return fc.oneof(fc.integer(), fc.constantFrom(0, 1, 80, -1));
  if (type === "Quantity") return fc.constantFrom("1", "500m", "1Gi", "-1", 2, 0.1, "1e3");
  if (type === "raw") return fc.jsonValue({ maxDepth: 2 });
  if (/Time$/.test(type)) return fc.constant("2006-01-02T15:04:05Z");
  return fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("a", "Always", "/x", "..", ""));
}

function structOf(fields: Readonly<Record<string, string>>, depth: number): fc.Arbitrary<unknown> {
  const names = Object.keys(fields);
  return fc.uniqueArray(fc.constantFrom(...names), { maxLength: depth < 3 ? 8 : 3 }).chain((chosen) => {
    return fc.record(
      Object.fromEntries(chosen.map((name) => [name, arbitraryOf(fields[name] ?? "string", depth + 1)])),
    );
  });
}

const podValue = fc.record({
  metadata: arbitraryOf("ObjectMeta", 1),
  spec: arbitraryOf("PodSpec", 1),
  status: arbitraryOf("PodStatus", 4),
});

/** A map's key is the user's, and may be the name of something that every object has. */
const NAMED_AS_A_METHOD = {
  metadata: { labels: { constructor: "x" } },
  spec: {
    containers: [],
    resources: { limits: {}, requests: { valueOf: "1" } },
    overhead: { toString: "1" },
    nodeSelector: { hasOwnProperty: "x" },
  },
  status: {},
};

it("whatever the schema allows decodes, defaults, is judged and computed with, without a throw", () => {
  let decodedPods = 0;
  fc.assert(
    fc.property(podValue, (value) => {
      const { value: pod, errors } = decodeObject("Pod", value);
      expect(pod === undefined).toBe(errors.length > 0);
      if (!pod) return;
      decodedPods++;
      const defaulted = defaultPod(pod);
      validatePod(defaulted);
      expect(defaultPod(defaulted)).toEqual(defaulted);
      for (const { container } of podContainers(defaulted)) expect(container.terminationMessagePolicy).toBeTruthy();
      computePodRequests(defaulted);
      computePodLimits(defaulted);
      computeQosClass(defaulted);
      // A decoded object decodes again to the same. JSON has no negative zero, and so the text is compared with itself.
      const sent: unknown = JSON.parse(JSON.stringify(pod));
      expect(decodeObject("Pod", sent)).toEqual({ value: sent, errors: [], warnings: [] });
    }),
    { numRuns: 300, examples: [[NAMED_AS_A_METHOD]] },
  );
  expect(decodedPods).toBeGreaterThan(100);
});

it("anything at all is decoded or refused, never thrown at", () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (value) => {
      const { errors, value: pod } = decodeObject("Pod", {
        metadata: value,
        spec: { containers: value, volumes: [value] },
      });
      expect(pod === undefined).toBe(errors.length > 0);
    }),
  );
});

it("any text is a manifest or an error, never thrown at", () => {
  const fragments = [
    "- ",
    ": ",
    "\n",
    "  ",
    "a",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "<<",
    "!!int ",
    "|\n",
    ">",
    '"',
    "'",
    "#",
    "---\n",
    "\t",
    "?",
    "%",
    "0644",
    "\0",
    "apiVersion: v1\nkind: Pod\n",
  ];
  const text = fc.array(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...fragments) }, fc.string({ maxLength: 4 })),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(text, (parts) => {
      for (const { pod, errors } of parseManifest(parts.join(""))) expect(pod === undefined).toBe(errors.length > 0);
    }),
    { numRuns: 1000 },
  );
});
