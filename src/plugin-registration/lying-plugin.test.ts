import { afterEach, expect, it } from "vitest";
import { answerCall, answerForEver, grpcFrame, type Lie, serveLies } from "../grpc/__fixtures__/lying-server.ts";
import { connectPluginRegistration } from "./connect.ts";
import { PluginInfo } from "./gen/plugin-registration-v1.ts";

const OK = { "grpc-status": "0" };
const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function ask(onCall: Lie["onCall"], timeoutMs = 60_000) {
  const server = await serveLies(onCall === undefined ? {} : { onCall });
  closers.push(() => server.close());
  const registration = connectPluginRegistration(server.path);
  closers.push(() => registration.close());
  return await registration.getInfo({ timeoutMs });
}

const described = (info: Partial<PluginInfo>) => grpcFrame(PluginInfo.encode(PluginInfo.fromPartial(info)).finish());

it.each<[name: string, code: string, lie: Lie["onCall"]]>([
  ["never says who it is", "deadline-exceeded", undefined],
  ["has a name of 64 KiB", "resource-exhausted", saying({ name: "x".repeat(64 * 1024) })],
  ["speaks ten thousand versions", "resource-exhausted", saying({ supportedVersions: Array(10_000).fill("1.99.99") })],
  ["goes on for ever", "resource-exhausted", (call) => answerForEver(call, described({ name: "x".repeat(64 * 1024) }))],
  ["says something else than protobuf", "internal", (call) => answerCall(call, grpcFrame(Buffer.from("{}{}")), OK)],
])("a plugin that %s is not known", async (_name, code, lie) => {
  await expect(ask(lie, lie === undefined ? 300 : undefined)).rejects.toMatchObject({ code });
});

it("a plugin that says nothing of itself is known by its emptiness", async () => {
  expect(await ask(saying({}))).toEqual({ type: "", name: "", endpoint: "", supportedVersions: [] });
});

function saying(info: Partial<PluginInfo>): NonNullable<Lie["onCall"]> {
  return (call) => answerCall(call, described(info), OK);
}
