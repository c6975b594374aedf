import { setMaxListeners } from "node:events";
import { expect, it } from "vitest";
import { CodedError } from "../../base/errors.ts";
import type { DnsCall } from "../../host/dns-port.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { answerWith, questionFor } from "../__fixtures__/messages.ts";
import { readMessageShape } from "../wire/read-message.ts";
import { readQuery } from "../wire/read-query.ts";
import { createForwarder } from "./forwarder.ts";
import { readNameServers } from "./name-servers.ts";

const SERVERS = ["192.0.2.1", "192.0.2.2"].map((address) => ({ address, port: 53 }));
const SIGNAL = new AbortController().signal;
setMaxListeners(0, SIGNAL);
const peerAt = (address: string) => ({ transport: "udp", family: "ipv4", address, signal: SIGNAL }) as const;

type Script = (call: DnsCall) => Buffer | Promise<Buffer>;

function createRig(script: Script, servers = SERVERS) {
  const clock = createFakeClock();
  const asked: string[] = [];
  let ids = 0;
  let refused = 0;
  const forwarder = createForwarder({
    call: async (call) => {
      asked.push(`${call.address} ${call.transport}`);
      const answer = await script(call);
      if (!call.isAnswer(answer)) throw new CodedError("timed-out", "no answer");
      return answer;
    },
    clock,
    servers: () => servers,
    randomId: () => ++ids,
    metrics: {
      cacheHit: () => undefined,
      cacheMiss: () => undefined,
      cacheSize: () => undefined,
      forwardRefused: () => void refused++,
    },
  });
  const ask = async (name: string, options: { id?: number; edns?: boolean; client?: string } = {}) => {
    const received = readQuery(questionFor(name, options), "udp");
    if (received.kind !== "query") throw new Error("no query");
    const kept = forwarder.recall(received.query);
    if (kept !== undefined) return { kind: "kept" as const, message: kept };
    return await forwarder.ask(received.query, peerAt(options.client ?? "192.0.2.200"));
  };
  return { clock, asked, ask, refused: () => refused };
}

const shapeOf = (outcome: { kind: string; message?: Buffer }) => readMessageShape(outcome.message ?? Buffer.alloc(0));

it("passes the answer on under the client's ID, and keeps it for as long as it is valid", async () => {
  const { clock, asked, ask } = createRig(({ message }) => answerWith(message, { addresses: ["192.0.2.80"], ttl: 20 }));
  expect(shapeOf(await ask("www.example.com", { id: 77 }))).toMatchObject({ id: 77, answers: [{ ttl: 20 }] });
  await clock.advance(8_000);
  expect(shapeOf(await ask("WWW.example.com", { id: 78 }))).toMatchObject({ id: 78, answers: [{ ttl: 12 }] });
  expect(asked).toHaveLength(1);
  await clock.advance(12_001);
  expect((await ask("www.example.com")).kind).toBe("answer");
  expect(asked).toHaveLength(2);
});

it("keeps nothing for longer than half a minute, denials neither", async () => {
  const long = createRig(({ message }) => answerWith(message, { addresses: ["192.0.2.80"], ttl: 86_400 }));
  expect(shapeOf(await long.ask("a.example"))).toMatchObject({ answers: [{ ttl: 30 }] });
  await long.clock.advance(30_001);
  await long.ask("a.example");
  expect(long.asked).toHaveLength(2);
  const none = createRig(({ message }) => answerWith(message, { code: 3 }));
  await none.ask("b.example");
  expect((await none.ask("b.example")).kind).toBe("kept");
  await none.clock.advance(5_001);
  expect((await none.ask("b.example")).kind).toBe("answer");
});

it("tells the questions of clients with and without EDNS apart", async () => {
  const { asked, ask } = createRig(({ message }) => answerWith(message, { addresses: ["192.0.2.80"], ttl: 20 }));
  await ask("a.example");
  await ask("a.example", { edns: true });
  expect(asked).toHaveLength(2);
});

it.each<[string, (message: Buffer) => Buffer]>([
  ["another ID", (message) => answerWith(message, { addresses: ["192.0.2.66"], id: message.readUInt16BE(0) ^ 1 })],
  [
    "another question",
    (message) => answerWith(questionFor("evil.example"), { addresses: ["192.0.2.66"], id: message.readUInt16BE(0) }),
  ],
  ["a question", (message) => message],
  ["nothing that can be read", () => Buffer.from("poison")],
])("believes no answer with %s", async (_, forge) => {
  const { asked, ask } = createRig(({ message }) => forge(message));
  expect(await ask("www.example.com")).toEqual({ kind: "failed" });
  expect(asked).toEqual(["192.0.2.1 udp", "192.0.2.2 udp"]);
});

it("asks the next server where one is silent or cannot tell, and the silent one last from then on", async () => {
  const { asked, ask } = createRig(({ address, message }) => {
    if (address === "192.0.2.1") throw new CodedError("timed-out", "no answer");
    return answerWith(message, { addresses: ["192.0.2.80"] });
  });
  expect((await ask("a.example")).kind).toBe("answer");
  expect((await ask("b.example")).kind).toBe("answer");
  expect(asked).toEqual(["192.0.2.1 udp", "192.0.2.2 udp", "192.0.2.2 udp"]);
  const lame = createRig(({ message }) => answerWith(message, { code: 2 }));
  expect(shapeOf(await lame.ask("a.example"))?.flags).toSatisfy((flags: number) => (flags & 0xf) === 2);
  expect(lame.asked).toHaveLength(2);
});

it("asks once for all clients that wait for the same, and refuses when too many questions are under way", async () => {
  const answers: Array<() => void> = [];
  const { asked, ask, refused } = createRig(async ({ message }) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return answerWith(message, { addresses: ["192.0.2.80"] });
  });
  const clientOf = (index: number) => ({ client: `192.0.2.${index % 5}` });
  const same = Array.from({ length: 10 }, async (_, index) => await ask("same.example", clientOf(index)));
  const others = Array.from({ length: 995 }, async (_, index) => await ask(`n${index}.example`, clientOf(index)));
  expect(asked).toHaveLength(991);
  for (const answer of answers) answer();
  expect((await Promise.all(same)).map(({ kind }) => kind)).toEqual(Array(10).fill("answer"));
  expect((await Promise.all(others)).filter(({ kind }) => kind === "refused")).toHaveLength(5);
  expect(refused()).toBe(5);
});

it("refuses a client that has too many questions under way by itself, and asks for others", async () => {
  const answers: Array<() => void> = [];
  const { asked, ask } = createRig(async ({ message }) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return answerWith(message, { addresses: ["192.0.2.80"] });
  });
  const greedy = Array.from({ length: 260 }, async (_, index) => await ask(`n${index}.example`));
  const other = ask("other.example", { client: "192.0.2.201" });
  expect(asked).toHaveLength(251);
  for (const answer of answers) answer();
  expect((await Promise.all(greedy)).filter(({ kind }) => kind === "refused")).toHaveLength(10);
  expect((await other).kind).toBe("answer");
  const later = ask("n255.example");
  answers.at(-1)?.();
  expect((await later).kind).toBe("answer");
});

it("tells a client over UDP to come back over TCP where the answer is too long for it", async () => {
  const addresses = Array.from({ length: 60 }, (_, index) => `192.0.2.${index}`);
  const { ask } = createRig(({ message }) => answerWith(message, { addresses, ttl: 20 }));
  const shape = shapeOf(await ask("many.example"));
  expect(shape).toMatchObject({ answers: [] });
  expect((shape?.flags ?? 0) & 0x0200).toBe(0x0200);
});

it("reads the name servers of a resolv.conf as glibc does", () => {
  const text =
    "# none\nsearch a\nnameserver 192.0.2.1\n nameserver\t2001:db8::1  \nnameserver nobody\nnameserver 192.0.2.1\n";
  expect(readNameServers(text)).toEqual([
    { address: "192.0.2.1", port: 53 },
    { address: "2001:db8::1", port: 53 },
  ]);
});
