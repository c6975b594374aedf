import { describe, expect, it } from "vitest";
import { type DeviceCheckpoint, decodeDeviceCheckpoint, encodeDeviceCheckpoint } from "./device-checkpoint.ts";

const RESPONSE = {
  envs: { DEVICES: "a" },
  mounts: [{ containerPath: "/opt", hostPath: "/usr/opt", readOnly: true }],
  devices: [{ containerPath: "/dev/a", hostPath: "/dev/host-a", permissions: "rw" }],
  annotations: { "example.com/a": "b" },
  cdiDevices: ["example.com/device=a"],
};
const CHECKPOINT: DeviceCheckpoint = {
  assignments: [
    {
      podUid: "uid-1",
      container: "main",
      resource: "example.com/device",
      devices: {
        idsByNumaNode: new Map([
          [-1, ["c"]],
          [0, ["a", "b"]],
        ]),
        response: RESPONSE,
      },
    },
  ],
  registered: { "example.com/device": ["a", "b", "c"], "example.com/other": [] },
};
const NOTHING: DeviceCheckpoint = { assignments: [], registered: {} };

describe("the checkpoint of devices", () => {
  it.each([
    ["with devices", CHECKPOINT],
    ["without", NOTHING],
  ])("is read as it was written, %s", (_what, checkpoint) => {
    expect(decodeDeviceCheckpoint(encodeDeviceCheckpoint(checkpoint))).toEqual(checkpoint);
  });

  it("has the fields that a Go kubelet reads", () => {
    const file: unknown = JSON.parse(encodeDeviceCheckpoint(CHECKPOINT));
    expect(file).toMatchObject({
      Data: {
        PodDeviceEntries: [
          {
            PodUID: "uid-1",
            ContainerName: "main",
            ResourceName: "example.com/device",
            DeviceIDs: { "-1": ["c"], "0": ["a", "b"] },
            AllocResp: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
          },
        ],
        RegisteredDevices: { "example.com/device": ["a", "b", "c"], "example.com/other": [] },
      },
      Checksum: expect.any(Number),
    });
    expect(encodeDeviceCheckpoint(NOTHING)).toContain('"PodDeviceEntries":null');
  });

  it.each([
    ["another device", encodeDeviceCheckpoint(CHECKPOINT).replace('"b"', '"d"'), /checkpoint is corrupted/],
    ["half of the file", encodeDeviceCheckpoint(CHECKPOINT).slice(0, 80), /JSON/],
    ["no object", "{}", /Data is no object/],
    ["a list that is none", '{"Data":{"PodDeviceEntries":{}}}', /PodDeviceEntries is no list/],
    ["an entry without pod", '{"Data":{"PodDeviceEntries":[{}]}}', /PodDeviceEntries\[0\].PodUID is no text/],
  ])("is refused with %s", (_what, text, message) => {
    expect(() => decodeDeviceCheckpoint(text)).toThrow(message);
  });
});
