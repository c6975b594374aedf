import { afterEach, expect, it } from "vitest";
import { answerCall, answerForEver, grpcFrame, type Lie, serveLies } from "../grpc/__fixtures__/lying-server.ts";
import { connectCsi } from "./connect.ts";
import { NodeGetInfoResponse, NodeGetVolumeStatsResponse, VolumeUsage_Unit } from "./gen/csi-v1.ts";
import type { CsiNode } from "./port.ts";

const OK = { "grpc-status": "0" };
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** The first field of a message, with nothing in it, two million times. */
const TWO_MILLION_ENTRIES = Buffer.alloc(4_000_000, Buffer.from([0x0a, 0]));

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function connectTo(onCall: NonNullable<Lie["onCall"]>): Promise<CsiNode> {
  const server = await serveLies({ onCall });
  closers.push(() => server.close());
  const node = connectCsi({ endpoint: server.path, driverName: "liar" });
  closers.push(() => node.close());
  return node;
}

const answer = (message: Uint8Array) => (call: Parameters<NonNullable<Lie["onCall"]>>[0]) =>
  answerCall(call, grpcFrame(message), OK);
const volume = { volumeId: "a", volumePath: "/a" };
const readStats = async (node: CsiNode) => await node.stats(volume);

it.each<[name: string, lie: NonNullable<Lie["onCall"]>, ask: (node: CsiNode) => Promise<unknown>]>([
  ["tells two million statistics", answer(TWO_MILLION_ENTRIES), readStats],
  ["has two million capabilities", answer(TWO_MILLION_ENTRIES), async (node) => await node.capabilities()],
  ["goes on for ever", (call) => answerForEver(call, grpcFrame(Buffer.alloc(70_000))), readStats],
  [
    "has a topology of ten thousand labels",
    answer(NodeGetInfoResponse.encode(NodeGetInfoResponse.fromPartial(manyLabels())).finish()),
    async (node) => await node.info(),
  ],
])("a driver that %s is not listened to", async (_name, lie, ask) => {
  await expect(ask(await connectTo(lie))).rejects.toMatchObject({ code: "resource-exhausted" });
});

it("a driver's numbers are those of 64 bits, and none below zero counts", async () => {
  const usage = [
    { available: MAX_INT64, total: MAX_INT64, used: MAX_INT64, unit: VolumeUsage_Unit.BYTES },
    { available: MIN_INT64, total: 0n, used: -1n, unit: VolumeUsage_Unit.INODES },
  ];
  const message = NodeGetVolumeStatsResponse.encode(NodeGetVolumeStatsResponse.fromPartial({ usage })).finish();
  const node = await connectTo(answer(message));
  expect((await node.stats(volume)).usage).toEqual([
    { unit: "BYTES", available: MAX_INT64, total: MAX_INT64, used: MAX_INT64 },
  ]);
});

function manyLabels() {
  const segments = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`example.com/${index}`, "here"]));
  return { nodeId: "a", accessibleTopology: { segments } };
}
