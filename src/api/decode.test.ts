import { describe, expect, it } from "vitest";
import { decodeObject, decodeTyped } from "./decode.ts";
import { formatFieldError } from "./field-error.ts";

const container = (fields: object) => ({ spec: { containers: [{ name: "main", ...fields }] } });
const decode = (value: unknown, path?: string) => {
  const { value: pod, errors, warnings } = decodeObject("Pod", value, path);
  return { pod, errors: errors.map(formatFieldError), warnings: warnings.map(({ message }) => message) };
};

describe("wrong types are errors that name the field", () => {
  it.each<[string, unknown, string]>([
    [
      "string for integer",
      container({ ports: [{ containerPort: 80 }, { containerPort: "x" }] }),
      'spec.containers[0].ports[1].containerPort: expected integer, got string "x"',
    ],
    [
      "number for string",
      container({ env: [{ name: "A", value: 1 }] }),
      "spec.containers[0].env[0].value: expected string, got integer 1",
    ],
    [
      "boolean for string",
      container({ args: [true] }),
      "spec.containers[0].args[0]: expected string, got boolean true",
    ],
    ["fraction for integer", { spec: { priority: 1.5 } }, "spec.priority: expected integer, got number 1.5"],
    ["string for boolean", { spec: { hostNetwork: "true" } }, 'spec.hostNetwork: expected boolean, got string "true"'],
    ["object for list", { spec: { containers: { name: "x" } } }, "spec.containers: expected list, got object"],
    ["list for object", { metadata: [] }, "metadata: expected object, got list"],
    ["string for object", { spec: "x" }, 'spec: expected object, got string "x"'],
    ["no object at all", "pod", ': expected object, got string "pod"'.slice(2)],
    ["label of a number", { metadata: { labels: { app: 1 } } }, "metadata.labels[app]: expected string, got integer 1"],
    [
      "int32 range",
      { spec: { priority: 2_147_483_648 } },
      "spec.priority: expected integer between -2147483648 and 2147483647, got integer 2147483648",
    ],
    [
      "int64 range",
      { spec: { terminationGracePeriodSeconds: 9223372036854775808n } },
      "spec.terminationGracePeriodSeconds: expected integer between -9223372036854775808 and 9223372036854775807, got integer 9223372036854775808",
    ],
    [
      "infinity",
      { spec: { priority: Number.POSITIVE_INFINITY } },
      "spec.priority: expected integer, got number Infinity",
    ],
    [
      "malformed quantity",
      container({ resources: { limits: { cpu: "lots" } } }),
      'spec.containers[0].resources.limits[cpu]: expected quantity such as 500m, 2 or 1.5Gi, got string "lots"',
    ],
    [
      "port that is neither",
      container({ livenessProbe: { httpGet: { port: true } } }),
      "spec.containers[0].livenessProbe.httpGet.port: expected integer or string, got boolean true",
    ],
    [
      "time",
      { metadata: { creationTimestamp: "yesterday" } },
      'metadata.creationTimestamp: expected time such as 2006-01-02T15:04:05Z, got string "yesterday"',
    ],
  ])("%s", (_, value, error) => {
    const decoded = decode(value);
    expect(decoded.errors).toEqual([error]);
    expect(decoded.pod).toBeUndefined();
  });

  it("prefixes the paths", () => {
    expect(decode({ spec: 1 }, "items[3]").errors).toEqual(["items[3].spec: expected object, got integer 1"]);
  });

  it("keeps a bounded number of them", () => {
    const { errors } = decode(container({ args: Array.from({ length: 1000 }, () => 1) }));
    expect(errors).toHaveLength(21);
    expect(errors.at(-1)).toBe("too many of these: the rest is not shown");
  });

  it("shows long values cut", () => {
    expect(decode({ spec: { priority: "x".repeat(10_000) } }).errors[0]?.length).toBeLessThan(250);
  });
});

describe("unknown fields are warnings", () => {
  it.each<[string, unknown, string]>([
    ["in a container", container({ foo: 1 }), 'unknown field "spec.containers[0].foo"'],
    ["at the top", { specs: {} }, 'unknown field "specs"'],
    ["by case", container({ Image: "x" }), 'unknown field "spec.containers[0].Image"'],
    [
      "named like what every object has",
      container({ constructor: 1 }),
      'unknown field "spec.containers[0].constructor"',
    ],
    ["named __proto__", JSON.parse('{"spec":{"__proto__":{"hostNetwork":true}}}'), 'unknown field "spec.__proto__"'],
  ])("%s", (_, value, warning) => {
    const { pod, warnings, errors } = decode(value);
    expect({ warnings, errors }).toEqual({ warnings: [warning], errors: [] });
    expect(pod?.spec?.hostNetwork).toBeUndefined();
  });
});

describe("Go's rules", () => {
  it("null is absent, in lists it is the zero value", () => {
    const { pod, errors } = decode({ metadata: null, spec: { hostname: null, containers: [null] } });
    expect(errors).toEqual([]);
    expect(pod).toEqual({ spec: { containers: [{ name: "" }] } });
  });

  it("required fields that are missing get their zero value", () => {
    const { pod } = decode(container({ ports: [{}], livenessProbe: { httpGet: {} }, resources: { claims: [{}] } }));
    expect(pod?.spec?.containers[0]).toEqual({
      name: "main",
      ports: [{ containerPort: 0 }],
      livenessProbe: { httpGet: { port: 0 } },
      resources: { claims: [{ name: "" }] },
    });
    expect(decode({ spec: {} }).pod?.spec).toEqual({ containers: [] });
  });

  it("a required time that is missing is null, which Go reads as no time", () => {
    const decoded = decodeTyped({ tables: { Condition: { at: "Time!", seen: "MicroTime!" } }, type: "Condition" }, {});
    expect(decoded.value).toEqual({ at: null, seen: null });
  });

  it.each<[unknown, string]>([
    [1, "1"],
    [0.1, "100m"],
    [1e9, "1G"],
    [9007199254740993n, "9007199254740993"],
    ["1024Mi", "1Gi"],
    [" 1Gi ", "1Gi"],
    [null, "0"],
  ])("quantity %s becomes %s", (written, read) => {
    const { pod } = decode(container({ resources: { limits: { memory: written } } }));
    expect(pod?.spec?.containers[0]?.resources?.limits).toEqual({ memory: read });
  });

  it("integers beyond 2^53 are clamped with a warning", () => {
    const { pod, warnings } = decode({ spec: { terminationGracePeriodSeconds: 9223372036854775807n } });
    expect(pod?.spec?.terminationGracePeriodSeconds).toBe(Number.MAX_SAFE_INTEGER);
    expect(warnings).toHaveLength(1);
    expect(decode(JSON.parse('{"spec":{"terminationGracePeriodSeconds":9223372036854775807}}')).errors).toEqual([]);
  });

  it("takes whole numbers written as fractions, and both kinds of port", () => {
    const { pod } = decode(
      container({ ports: [{ containerPort: 80.0 }], livenessProbe: { tcpSocket: { port: "web" } } }),
    );
    expect(pod?.spec?.containers[0]?.ports?.[0]?.containerPort).toBe(80);
    expect(pod?.spec?.containers[0]?.livenessProbe?.tcpSocket?.port).toBe("web");
  });

  it("keeps a label named __proto__ a label", () => {
    const { pod } = decode(JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}'));
    expect(Object.keys(pod?.metadata?.labels ?? {})).toEqual(["__proto__"]);
  });

  it("copies fields without a schema", () => {
    const fieldsV1 = { "f:metadata": { "f:labels": {} } };
    const { pod } = decode({ metadata: { managedFields: [{ fieldsV1 }] } });
    expect(pod?.metadata?.managedFields?.[0]?.fieldsV1).toEqual(fieldsV1);
    expect(pod?.metadata?.managedFields?.[0]?.fieldsV1).not.toBe(fieldsV1);
  });

  it("refuses objects that aliases made huge", () => {
    const args = Array.from({ length: 2000 }, () => "x");
    const containers = Array.from({ length: 2000 }, () => ({ name: "a", args }));
    expect(decode({ spec: { containers } }).errors[0]).toMatch(/more than 1000000 values in one object/);
  });
});

describe("objects beyond a bound are refused", () => {
  const tables = { Node: { name: "string", below: "Node", list: "[]string" } };
  const errorsOf = (value: unknown, maxValues?: number) => {
    const options = { tables, type: "Node", ...(maxValues !== undefined && { maxValues }) };
    return decodeTyped(options, value).errors.map(formatFieldError);
  };
  const nested = (levels: number): object => {
    let value: object = {};
    for (let level = 1; level < levels; level++) value = { below: value };
    return value;
  };

  it("of more values than the caller takes", () => {
    expect(errorsOf({ list: ["a", "b"] }, 4)).toEqual([]);
    expect(errorsOf({ list: ["a", "b", "c"] }, 4)).toEqual(["list[2]: more than 4 values in one object"]);
  });

  it("of more than two hundred levels", () => {
    expect(errorsOf(nested(200))).toEqual([]);
    expect(errorsOf(nested(5_000))).toEqual([expect.stringContaining("expected at most 200 levels, got object")]);
  });
});
