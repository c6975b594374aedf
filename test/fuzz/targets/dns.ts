import { setMaxListeners } from "node:events";
import { answerWith, questionFor } from "../../../src/dns/__fixtures__/messages.ts";
import { createDnsHandler } from "../../../src/dns/answer-query.ts";
import { createForwarder } from "../../../src/dns/forward/forwarder.ts";
import { readMessageShape } from "../../../src/dns/wire/read-message.ts";
import { createServiceDirectory } from "../../../src/dns/zone/service-directory.ts";
import type { DnsTransport } from "../../../src/host/dns-port.ts";
import { createFakeClock } from "../../../src/host/fake/fake-clock.ts";
import { promise, type Target } from "../target.ts";

const QUESTION = questionFor("out.default.svc.cluster.local");

/**
 * The DNS server. Each input is a message of a client over both transports; the same bytes are what another server
 * answers when it is asked for the target of an external name.
 */
export const dnsTarget: Target = {
  name: "dns",
  runs: 4_992,
  seeds: [
    questionFor("web.default.svc.cluster.local", { edns: true }),
    questionFor("_https._tcp.web.default.svc.cluster.local", { type: "SRV" }),
    questionFor("1.0.3.10.in-addr.arpa", { type: "PTR" }),
    QUESTION,
    answerWith(questionFor("www.example.com"), { addresses: ["192.0.2.80", "192.0.2.81"] }),
  ],
  words: [
    Buffer.from([0xc0, 12]),
    Buffer.from([0, 41]),
    Buffer.from([0, 255]),
    "\u0003svc\u0007cluster\u0005local",
    "\u0003www",
  ],
  async setUp() {
    const names = createServiceDirectory();
    const service = (name: string, spec: object) => {
      names.changeServices([
        { type: "ADDED", object: { metadata: { name, namespace: "default" }, spec }, previous: undefined },
      ]);
    };
    service("web", { clusterIP: "10.3.0.1", ports: [{ name: "https", port: 443 }] });
    service("out", { type: "ExternalName", externalName: "www.example.com" });
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    const clock = createFakeClock();
    const foreign: { answer: Buffer } = { answer: Buffer.alloc(0) };
    const forwarder = createForwarder({
      clock,
      servers: () => [{ address: "192.0.2.1", port: 53 }],
      randomId: () => 1,
      call: async ({ message, isAnswer }) => {
        const { answer } = foreign;
        // The answer's own ID and question are made to fit, so that all that follows them is read.
        const shape = readMessageShape(message);
        const fitting = Buffer.from(answer);
        if (shape !== undefined && answer.length > 12 + shape.question.length) {
          message.copy(fitting, 0, 0, 2);
          fitting[2] = 0x81;
          shape.question.copy(fitting, 12);
        }
        if (!isAnswer(fitting)) throw new Error("no answer");
        return fitting;
      },
      metrics: {
        cacheHit: () => undefined,
        cacheMiss: () => undefined,
        cacheSize: () => undefined,
        forwardRefused: () => undefined,
      },
    });
    const handle = createDnsHandler({
      zone: { domain: "cluster.local", names, serverAddress: "10.3.0.10", serial: () => 7 },
      forwarder,
      loops: { meets: () => false },
      metrics: { answered: () => undefined },
      clock,
      isReady: () => true,
    });
    return {
      async run(input) {
        foreign.answer = input;
        const ask = async (message: Buffer, transport: DnsTransport) => {
          const answer = await handle(message, { transport, family: "ipv4", address: "192.0.2.200", signal });
          if (answer === undefined) return;
          promise(
            answer.length <= (transport === "udp" ? 1_232 : 65_535),
            "the answer is longer than its transport takes",
          );
          promise(answer.readUInt16BE(0) === message.readUInt16BE(0), "the answer has another ID");
          promise(answer.readUInt16BE(4) === 0 || readMessageShape(answer) !== undefined, "the answer cannot be read");
          await clock.advance(60_000);
        };
        await ask(input, "udp");
        await ask(input, "tcp");
        await ask(QUESTION, "udp");
      },
    };
  },
};
