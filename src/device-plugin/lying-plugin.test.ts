import { afterEach, expect, it } from "vitest";
import { answerCall, answerForEver, grpcFrame, type Lie, serveLies } from "../grpc/__fixtures__/lying-server.ts";
import { connectDevicePlugin } from "./connect.ts";
import { ContainerAllocateResponse, Device, ListAndWatchResponse } from "./gen/device-plugin-v1beta1.ts";
import type { DevicePlugin } from "./port.ts";

const OK = { "grpc-status": "0" };
/** The first field of a message, with nothing in it. */
const EMPTY = Buffer.from([0x0a, 0]);
const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function connectTo(onCall: NonNullable<Lie["onCall"]>): Promise<DevicePlugin> {
  const server = await serveLies({ onCall });
  closers.push(() => server.close());
  const plugin = connectDevicePlugin(server.path);
  closers.push(() => plugin.close());
  return plugin;
}

const answer = (message: Uint8Array) => (call: Parameters<NonNullable<Lie["onCall"]>>[0]) =>
  answerCall(call, grpcFrame(message), OK);
const many = (count: number) => Buffer.alloc(2 * count, EMPTY);
const firstList = async (plugin: DevicePlugin) => {
  for await (const devices of plugin.listAndWatch()) return devices;
  return undefined;
};
const devicesOf = (count: number) => {
  const devices = Array.from({ length: count }, (_, index) => ({ ID: `device-${index}`, health: "Healthy" }));
  return ListAndWatchResponse.encode(ListAndWatchResponse.fromPartial({ devices })).finish();
};
/** A device with a million NUMA nodes; its own fields come after them. */
const manyNodes = () => {
  const topology = many(1_000_000);
  const head = Device.encode(Device.fromPartial({ ID: "a", health: "Healthy" })).finish();
  const field = (number: number, bytes: Uint8Array) => {
    const length = [
      (bytes.length & 127) | 128,
      ((bytes.length >> 7) & 127) | 128,
      ((bytes.length >> 14) & 127) | 128,
      bytes.length >> 21,
    ];
    return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
  };
  return field(1, Buffer.concat([head, field(3, topology)]));
};

it.each<[name: string, code: string, message: Uint8Array]>([
  ["lists two million empty devices", "internal", many(2_000_000)],
  ["lists a million devices by name", "resource-exhausted", devicesOf(1_000_000)],
  ["has a device on a million NUMA nodes", "internal", manyNodes()],
])("a plugin that %s is not listened to", async (_name, code, message) => {
  await expect(firstList(await connectTo(answer(message)))).rejects.toMatchObject({ code });
});

it("a plugin may list ten thousand devices, and of two with one ID the last counts", async () => {
  expect(await firstList(await connectTo(answer(devicesOf(10_000))))).toHaveLength(10_000);
  const twice = Buffer.concat([devicesOf(1), devicesOf(2)]);
  expect(await firstList(await connectTo(answer(twice)))).toHaveLength(2);
});

it.each<[name: string, code: string, lie: NonNullable<Lie["onCall"]>]>([
  ["a million variables", "internal", answer(many(1_000_000))],
  ["what does not end", "resource-exhausted", (call) => answerForEver(call, grpcFrame(Buffer.alloc(5_000_000)))],
])("an allocation with %s fails", async (_name, code, lie) => {
  await expect((await connectTo(lie)).allocate(["a"])).rejects.toMatchObject({ code });
});

it("an allocation for no container is none", async () => {
  expect(await (await connectTo(answer(Buffer.alloc(0)))).allocate(["a"])).toBeUndefined();
  const empty = ContainerAllocateResponse.encode(ContainerAllocateResponse.fromPartial({})).finish();
  expect(empty).toHaveLength(0);
});
