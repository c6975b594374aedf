import { describe, expect, it } from "vitest";
import { decodeClaimCheckpoint, encodeClaimCheckpoint } from "./claim-checkpoint.ts";

/** As Go writes it: the fields in the order of its structs, sets as maps, nothing as null. */
const DATA =
  '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":[{"ClaimUID":"5f0a6a52-claim","ClaimName":"gpu","Namespace":"default","PodUIDs":{"pod-1":{},"pod-2":{}},"DriverState":{"gpu.example.com":{"Devices":[{"PoolName":"node-1","DeviceName":"gpu-0","ShareID":null,"RequestNames":["big"],"CDIDeviceIDs":["example.com/gpu=0","example.com/gpu=common"]},{"PoolName":"node-1","DeviceName":"gpu-1","ShareID":"6cf8fd67-52c3-4ed9-9e2c-2d1e4d3f4d1b","RequestNames":null,"CDIDeviceIDs":null}]},"nic.example.com":{"Devices":null}}}]}';
const TEXT = JSON.stringify({ Data: DATA, Checksum: 2424626129 });

const DEVICES = [
  {
    poolName: "node-1",
    deviceName: "gpu-0",
    shareId: undefined,
    requestNames: ["big"],
    cdiDeviceIds: ["example.com/gpu=0", "example.com/gpu=common"],
  },
  {
    poolName: "node-1",
    deviceName: "gpu-1",
    shareId: "6cf8fd67-52c3-4ed9-9e2c-2d1e4d3f4d1b",
    requestNames: [],
    cdiDeviceIds: [],
  },
];
const CLAIM = {
  uid: "5f0a6a52-claim",
  name: "gpu",
  namespace: "default",
  podUids: new Set(["pod-2", "pod-1"]),
  drivers: new Map([
    ["gpu.example.com", DEVICES],
    ["nic.example.com", []],
  ]),
};

describe("the checkpoint of claims", () => {
  it("is what a Go kubelet writes, byte for byte", () => {
    expect(encodeClaimCheckpoint([CLAIM])).toBe(TEXT);
    expect(decodeClaimCheckpoint(TEXT)).toEqual([CLAIM]);
  });

  it("of a kubelet that had none is empty", () => {
    const data = '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":null}';
    expect(decodeClaimCheckpoint(JSON.stringify({ Data: data, Checksum: 4010664294 }))).toEqual([]);
  });

  it.each([
    ["nothing", "", "it is no checkpoint"],
    ["torn", TEXT.slice(0, -10), "it is no checkpoint"],
    ["changed", TEXT.replace("gpu-0", "gpu-2"), "its checksum is wrong"],
    ["of another content", JSON.stringify({ Data: "[]", Checksum: 223_132_457 }), "it has no list of claims"],
  ])("that is %s is not read", (_how, text, message) => {
    expect(() => decodeClaimCheckpoint(text)).toThrow(message);
  });
});
