import { describe, expect, it } from "vitest";
import { SCHEMA } from "./gen/schema.ts";
import { shapeObject } from "./object-shape.ts";

const pod = (fields: object) => ({ kind: "Pod", apiVersion: "v1", metadata: { name: "a" }, ...fields });
const container = (fields: object) => pod({ spec: { containers: [{ name: "c", ...fields }] } });

describe("an object of a server that lies", () => {
  it.each<[misfit: string, value: unknown]>([
    [" must be an object", null],
    [" must be an object", "x"],
    ["metadata must be an object", pod({ metadata: [] })],
    ["metadata.labels[a] must be a string", pod({ metadata: { labels: { a: 5 } } })],
    ["metadata.labels[a] must be a string", pod({ metadata: { labels: { a: null } } })],
    ["spec.containers must be a list", pod({ spec: { containers: "x" } })],
    ["spec.containers[0] must be an object", pod({ spec: { containers: [null] } })],
    ["spec.containers[0].command[1] must be a string", container({ command: ["a", 1] })],
    [
      "spec.containers[0].ports[0].containerPort must be an integer of 32 bits",
      container({ ports: [{ containerPort: 2 ** 31 }] }),
    ],
    ["spec.containers[0].tty must be true or false", container({ tty: "true" })],
    [
      "spec.containers[0].resources.requests[cpu] must be a quantity",
      container({ resources: { requests: { cpu: "many" } } }),
    ],
    [
      "spec.containers[0].resources.requests[cpu] must be a quantity",
      container({ resources: { requests: { cpu: {} } } }),
    ],
    [
      "spec.containers[0].livenessProbe.httpGet.port must be an integer or a string",
      container({ livenessProbe: { httpGet: { port: [] } } }),
    ],
    ["spec.activeDeadlineSeconds must be an integer", pod({ spec: { activeDeadlineSeconds: 0.5 } })],
    ["metadata.creationTimestamp must be a time", pod({ metadata: { creationTimestamp: "2026-13-01T00:00:00Z" } })],
    ["metadata.deletionTimestamp must be a time", pod({ metadata: { deletionTimestamp: 5 } })],
  ])("%s", (misfit, value) => {
    expect(shapeObject("Pod", value)).toBe(misfit);
  });

  it("is told with a bounded path", () => {
    const long = "x".repeat(100_000);
    expect(shapeObject("Pod", pod({ metadata: { labels: { [long]: 5 } } }))?.length).toBeLessThan(200);
  });
});

it("null is absent, a required field that is absent is zero, and a quantity is text, as Go reads them", () => {
  const value = container({ env: null, ports: [{}], resources: { limits: { cpu: 2, memory: "1Gi" } } });
  expect(shapeObject("Pod", Object.assign(value, { status: null }))).toBeUndefined();
  expect(value).toEqual(
    container({ ports: [{ containerPort: 0 }], resources: { limits: { cpu: "2", memory: "1Gi" } } }),
  );
  const claim = {};
  expect(shapeObject("ResourceResourceClaim", claim)).toBeUndefined();
  expect(claim).toEqual({ spec: {} });
});

it("what is not of the type may be anything, and so may fields without a schema", () => {
  const value = pod({
    "x-new": [null, { a: 5 }],
    ["__proto__"]: null,
    metadata: { managedFields: [{ fieldsV1: { "f:a": 5 } }] },
  });
  const copy = structuredClone(value);
  expect(shapeObject("Pod", value)).toBeUndefined();
  expect(value).toEqual(copy);
});

it("every field of every type refuses a value of another type", () => {
  const wrong = Symbol("of no type");
  for (const [type, fields] of Object.entries(SCHEMA)) {
    for (const [name, declared] of Object.entries(fields)) {
      if (declared.startsWith("raw")) continue;
      expect(shapeObject(type, { [name]: wrong }), `${type}.${name}`).toMatch(
        new RegExp(`^${name.replace("$", "\\$")} must be `),
      );
    }
  }
});
