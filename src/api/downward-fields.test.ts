import { expect, it } from "vitest";
import { readContainerResource, readMetadataField } from "./downward-fields.ts";
import type { Container, Pod } from "./gen/types.ts";

const pod: Pod = {
  metadata: {
    name: "web",
    namespace: "shop",
    uid: "uid-1",
    labels: { tier: "front", app: "web", "app.kubernetes.io/name": "w" },
    annotations: { note: 'two\nlines and a "quote"', "example.com/key's": "x" },
  },
};

it.each([
  ["metadata.name", "web"],
  ["metadata.namespace", "shop"],
  ["metadata.uid", "uid-1"],
  ["metadata.labels", 'app="web"\napp.kubernetes.io/name="w"\ntier="front"'],
  ["metadata.annotations", 'example.com/key\'s="x"\nnote="two\\nlines and a \\"quote\\""'],
  ["metadata.labels['app']", "web"],
  ["metadata.labels['absent']", ""],
  ["metadata.labels['toString']", ""],
  ["metadata.annotations['note']", 'two\nlines and a "quote"'],
])("%s", (fieldPath, value) => {
  expect(readMetadataField(pod, fieldPath)).toBe(value);
});

it("a pod without labels has none to show", () => {
  expect(readMetadataField({}, "metadata.labels")).toBe("");
});

it.each([
  ["status.podIP", "unsupported fieldPath: status.podIP"],
  ["spec.containers['a']", 'fieldPath "spec.containers" does not support subscript'],
])("refuses %s", (fieldPath, message) => {
  expect(() => readMetadataField(pod, fieldPath)).toThrow(message);
});

// These are the results of Go's `strconv.Quote`.
it.each([
  ["plain text", '"plain text"'],
  ['"\\', '"\\"\\\\"'],
  ["\u0007\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'],
  ["\u0000\u001f\u007f", '"\\x00\\x1f\\x7f"'],
  ["\u0080\u00a0\u2028\ufeff", '"\\u0080\\u00a0\\u2028\\ufeff"'],
  ["\u{e0001}", '"\\U000e0001"'],
  ["Grüße 世界 🙂 é", '"Grüße 世界 🙂 é"'],
])("quotes %j as Go does", (text, quoted) => {
  expect(readMetadataField({ metadata: { annotations: { a: text } } }, "metadata.annotations")).toBe(`a=${quoted}`);
});

const main: Container = {
  name: "main",
  resources: {
    limits: { cpu: "1500m", memory: "64Mi", "hugepages-2Mi": "4Mi" },
    requests: { cpu: "250m", "ephemeral-storage": "1Gi" },
  },
};
const spec = { containers: [main, { name: "bare" }], initContainers: [{ name: "init" }] };
const allocatable = { cpu: "3920m", memory: "7Gi", "ephemeral-storage": "90Gi", "hugepages-2Mi": "1Gi" };
const read = (containerName: string, resource: string, divisor?: string) =>
  readContainerResource({ spec }, { containerName, resource, ...(divisor !== undefined && { divisor }) }, allocatable);

it.each([
  ["main", "limits.cpu", undefined, "2"],
  ["main", "limits.cpu", "1m", "1500"],
  ["main", "limits.cpu", "0", "2"],
  ["main", "requests.cpu", "1m", "250"],
  ["main", "limits.memory", undefined, "67108864"],
  ["main", "limits.memory", "1Mi", "64"],
  ["main", "limits.memory", "1Gi", "1"],
  ["main", "requests.memory", "1Mi", "0"],
  ["main", "requests.ephemeral-storage", "1Mi", "1024"],
  ["main", "limits.hugepages-2Mi", "1Mi", "4"],
  ["bare", "limits.cpu", undefined, "4"],
  ["bare", "limits.memory", "1Gi", "7"],
  ["bare", "limits.ephemeral-storage", "1Gi", "90"],
  ["bare", "limits.hugepages-2Mi", undefined, "0"],
  ["bare", "requests.cpu", "1m", "0"],
  ["init", "limits.cpu", "1m", "3920"],
])("%s: %s in %s", (container, resource, divisor, value) => {
  expect(read(container, resource, divisor)).toBe(value);
});

it("refuses a container and a resource that there are not", () => {
  expect(() => read("gone", "limits.cpu")).toThrow("container gone not found");
  expect(() => read("main", "limits.pods")).toThrow("Unsupported container resource : limits.pods");
});
