import { expect, test } from "vitest";
import { decodeResourceCheckpoint, encodeResourceCheckpoint } from "./resource-checkpoint.ts";

/** A checkpoint of a Go kubelet, with the checksum that it has in upstream's own test. */
const OF_A_GO_KUBELET = JSON.stringify({
  data: '{"entries":{"pod1":{"ContainerResources":{"container1":{"requests":{"cpu":"1Ki","memory":"1Ki"}}}}}}',
  checksum: 1178570812,
});

test("a checkpoint of a Go kubelet is read", () => {
  expect(decodeResourceCheckpoint(OF_A_GO_KUBELET)).toEqual(
    new Map([["pod1", { containers: { container1: { requests: { cpu: "1Ki", memory: "1Ki" } } } }]]),
  );
});

test("what is written is read as the same, in a Go kubelet's form", () => {
  const infos = new Map([
    ["b", { containers: { main: { limits: { cpu: "1" }, requests: { cpu: "1" } } }, pod: { requests: { cpu: "2" } } }],
    ["a", { containers: { main: {} } }],
  ]);
  const text = encodeResourceCheckpoint(infos);
  expect(decodeResourceCheckpoint(text)).toEqual(infos);
  expect(text).toContain(
    String.raw`{\"entries\":{\"a\":{\"ContainerResources\":{\"main\":{}},\"PodLevelResources\":null},`,
  );
  expect(decodeResourceCheckpoint(encodeResourceCheckpoint(new Map()))).toEqual(new Map());
});

test.each([
  ["no JSON", "{"],
  ["another checksum", OF_A_GO_KUBELET.replace("1178570812", "1178570813")],
  ["no data", '{"checksum": 1}'],
  ["data that are no object", JSON.stringify({ data: "[]", checksum: 0 })],
])("%s is refused", (_what, text) => {
  expect(decodeResourceCheckpoint(text)).toBeUndefined();
});
