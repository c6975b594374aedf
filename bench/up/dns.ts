import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { readCpuMs } from "../control-plane/server-process.ts";
import type { Measure } from "../measure.ts";
import { summarize } from "../stats.ts";
import type { UpCase } from "./up-case.ts";

const PORT = 53;
const NAME = "kubernetes.default.svc.cluster.local";
const SOCKETS = 8;
/** Questions that wait for their answers, on each socket. */
const OPEN = 16;
const SECOND = 1_000;
/** A server that has just begun is still being compiled. */
const WARM_UP_MS = 5_000;
const THOUSAND = 1_000;
/** Where the count of answer records is in a message's head. */
const ANSWERS_AT = 6;
const BUFFER_BYTES = 1024 * 1024;

/** How many questions the cluster's DNS answers, at its service's address, and what processor time that takes. */
export const upDns: UpCase = async ({ world, sizes, signal, progress }) => {
  const address = world.serviceCidr.replace(/0\/16$/, "10");
  const pids = (await world.readPids()).get("dns") ?? [];
  progress(`${sizes.dnsSeconds} s of questions`);
  await askFor(address, WARM_UP_MS, signal);
  const cpuMs = await readCpuMs(pids);
  const begun = performance.now();
  const answers = await askFor(address, sizes.dnsSeconds * SECOND, signal);
  const seconds = (performance.now() - begun) / SECOND;
  const usedMs = (await readCpuMs(pids)) - cpuMs;
  const of = { case: "up-dns" } as const;
  const measures: Measure[] = [
    { ...of, name: "answers", unit: "answers/s", summary: summarize([answers / seconds]) },
    {
      ...{ ...of, name: "the server's CPU for 1,000 answers", unit: "ms" },
      summary: summarize([(THOUSAND * usedMs) / answers]),
      // 20,000 a second of one core.
      target: { of: "value", median: 50 },
    },
  ];
  return measures;
};

/** Asks one question after the other for so long, on several sockets. Returns how many were answered. */
async function askFor(address: string, durationMs: number, signal: AbortSignal): Promise<number> {
  const sockets = Array.from({ length: SOCKETS }, () => createSocket("udp4"));
  let answers = 0;
  try {
    for (const socket of sockets) {
      socket.connect(PORT, address);
      await once(socket, "connect");
      const question = encodeQuestion();
      let id = 0;
      const ask = () => {
        question.writeUInt16BE(id++ % 2 ** 16);
        socket.send(Buffer.from(question));
      };
      socket.on("error", () => undefined);
      socket.on("message", (answer) => {
        if (answer.readUInt16BE(ANSWERS_AT) === 0) throw new Error(`${NAME} has no address`);
        answers++;
        ask();
      });
      fill(socket, ask);
    }
    await delay(durationMs, undefined, { signal });
    return answers;
  } finally {
    for (const socket of sockets) socket.close();
  }
}

function fill(socket: Socket, ask: () => void): void {
  // A datagram that is lost is not asked for again; it would be missing for the rest of the time.
  socket.setSendBufferSize(BUFFER_BYTES);
  socket.setRecvBufferSize(BUFFER_BYTES);
  for (let open = 0; open < OPEN; open++) ask();
}

/** A question for an address (RFC 1035, 4.1), with recursion desired as resolvers do. */
function encodeQuestion(): Buffer {
  const labels = NAME.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  const head = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, 1, 0, 1])]);
}
