import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { type LogFields, silentLog } from "../../../base/log.ts";
import { createPodReader } from "./pod-reader.ts";
import { createUsablePods } from "./usable-pods.ts";

const METADATA = { namespace: "default", name: "a", uid: "u" };
const SPEC = { nodeName: "node-1", containers: [{ name: "main" }] };

const reader = createPodReader("node-1");
const received = (fields: object): Pod => reader.resource.read({ metadata: METADATA, spec: SPEC, ...fields });

function createFilter() {
  const errors: unknown[] = [];
  const error = (_message: string, fields: LogFields = {}) => void errors.push(fields["error"]);
  return { errors, ...createUsablePods({ log: { ...silentLog, error }, reader }, "node-1") };
}

it.each([
  ["it has no UID", { metadata: { ...METADATA, uid: "" } }],
  ["it has no namespace", { metadata: { ...METADATA, namespace: undefined } }],
  ["its UID cannot be the name of a directory", { metadata: { ...METADATA, uid: "../../../etc" } }],
  ["its UID cannot be the name of a directory", { metadata: { ...METADATA, uid: ".." } }],
  ["its UID cannot be the name of a directory", { metadata: { ...METADATA, uid: "x".repeat(254) } }],
  ["its name cannot be the name of a directory", { metadata: { ...METADATA, name: "a/b" } }],
  ["its name cannot be the name of a directory", { metadata: { ...METADATA, name: "" } }],
  ["its namespace cannot be the name of a directory", { metadata: { ...METADATA, namespace: "a\0b" } }],
  ["it has no spec", { spec: undefined }],
  ["it is bound to node node-2", { spec: { ...SPEC, nodeName: "node-2" } }],
  ["it is bound to no node", { spec: { containers: [] } }],
  ["Pod: spec.containers[1] must be an object", { spec: { ...SPEC, containers: [{ name: "a" }, null] } }],
  ["Pod: spec.containers[0].name must be a string", { spec: { ...SPEC, containers: [{ name: 5 }] } }],
  ["Pod: spec.initContainers must be a list", { spec: { ...SPEC, initContainers: {} } }],
  ["the name of spec.volumes[0] cannot be the name of a file", { spec: { ...SPEC, volumes: [{ emptyDir: {} }] } }],
  ["the name of spec.volumes[0] cannot be the name of a file", { spec: { ...SPEC, volumes: [{ name: "../x" }] } }],
  ["the name of spec.containers[0] cannot be the name of a file", { spec: { ...SPEC, containers: [{ name: ".." }] } }],
  ["Pod: spec.containers[0].env[0] must be an object", { spec: { ...SPEC, containers: [{ name: "a", env: [5] }] } }],
  ["Pod: metadata.labels[app] must be a string", { metadata: { ...METADATA, labels: { app: 5 } } }],
  ["Pod: metadata.annotations must be an object", { metadata: { ...METADATA, annotations: ["x"] } }],
  ["Pod: status.startTime must be a time", { status: { startTime: "yesterday" } }],
])("a pod of a server that lies is ignored, and said once: %s", (problem, fields) => {
  const { errors, select } = createFilter();
  const pods = [received(fields), received({ metadata: { ...METADATA, name: "good", uid: "good" } })];
  for (let turn = 0; turn < 2; turn++) expect(select(pods)).toEqual([pods[1]]);
  expect(errors).toEqual([problem]);
});

it("of two pods with one UID one is taken, and the other when the first has gone", () => {
  const { errors, select } = createFilter();
  const [one, other] = [received({}), received({ metadata: { ...METADATA, name: "b" } })];
  expect(select([one, other])).toEqual([one]);
  expect(select([one, other])).toEqual([one]);
  expect(errors).toEqual(["another pod has its UID"]);
  expect(select([other])).toEqual([other]);
});

it("a pod that was taken stays as it was while the server says nonsense of it, and changes when that is over", () => {
  const { errors, select } = createFilter();
  const [before, later] = [received({}), received({ spec: { ...SPEC, restartPolicy: "Never" } })];
  const nonsense = [
    { spec: { ...SPEC, containers: 5 } },
    { spec: { ...SPEC, nodeName: "node-2" } },
    { spec: null },
    { metadata: { ...METADATA, uid: undefined } },
  ];
  expect(select([before])).toEqual([before]);
  for (const fields of nonsense) expect(select([received(fields)])).toEqual([before]);
  expect(errors).toHaveLength(nonsense.length);
  expect(select([later])).toEqual([later]);
  expect(select([])).toEqual([]);
  expect(select([received({ spec: null })])).toEqual([]);
});

it("names twenty of the pods that are ignored, and counts the others", () => {
  const { errors, select } = createFilter();
  const pods = Array.from({ length: 1_000 }, (_, index) => received({ metadata: { ...METADATA, uid: `${index}/` } }));
  for (let turn = 0; turn < 2; turn++) expect(select(pods)).toEqual([]);
  expect(errors).toHaveLength(21);
});

it.each([
  [{ kind: "Node" }],
  [{ metadata: null }],
  [{ metadata: { ...METADATA, uid: 5 } }],
  [{ metadata: { ...METADATA, name: {} } }],
  [{ metadata: { ...METADATA, namespace: "x".repeat(2_000) } }],
])("what has not even the place of a pod is no answer: %j", (fields) => {
  expect(() => received({ spec: 5, ...fields })).toThrow(TypeError);
});

it("a malformed pod has no revision, so that the same one is news when it is mended", () => {
  const metadata = { ...METADATA, resourceVersion: "7" };
  expect(received({ metadata, spec: 5 }).metadata?.resourceVersion).toBe("");
  expect(received({ metadata }).metadata?.resourceVersion).toBe("7");
});
