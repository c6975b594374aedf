import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { CallDns } from "../../host/dns-port.ts";
import { RECORD_TYPES } from "../wire/record.ts";
import type { NameServer } from "./name-servers.ts";

/**
 * Finds the name servers that send our questions back to us. Each would ask itself the same question for ever. A name
 * that nobody else knows is asked of a server; if the same name is then asked of us, we have met ourselves. CoreDNS does
 * the same (plugin `loop`).
 */
export interface LoopDetector {
  /** True for a question that came from a check of ours. It must not be forwarded. */
  meets(name: string): boolean;
  /** Asks a server, and resolves when it is known whether it loops. */
  check(server: NameServer, signal: AbortSignal): Promise<void>;
  loops(server: NameServer): boolean;
}

interface DetectorDeps {
  readonly call: CallDns;
  /** A number from 0 to 2^32 - 1 that nobody can guess. */
  readonly randomNumber: () => number;
  readonly log: Log;
}

const CHECK_TIMEOUT_MS = 2_000;

export function createLoopDetector({ call, randomNumber, log }: DetectorDeps): LoopDetector {
  const looping = new Set<string>();
  const asked = new Map<string, { isMet: boolean }>();
  return {
    meets(name) {
      const question = asked.get(name);
      if (question !== undefined) question.isMet = true;
      return question !== undefined;
    },
    async check(server, signal) {
      const name = `${randomNumber()}.${randomNumber()}`;
      const question = { isMet: false };
      asked.set(name, question);
      const message = writeProbe(name, randomNumber() & 0xffff);
      try {
        await call({
          ...server,
          transport: "udp",
          message,
          timeoutMs: CHECK_TIMEOUT_MS,
          signal,
          isAnswer: (answer) => answer.length > 2 && answer.readUInt16BE(0) === message.readUInt16BE(0),
        });
      } catch (error) {
        if (!question.isMet)
          log.debug("a name server does not answer", { server: server.address, error: messageOf(error) });
      } finally {
        asked.delete(name);
      }
      const key = keyOf(server);
      if (!question.isMet) {
        looping.delete(key);
        return;
      }
      if (!looping.has(key)) {
        log.error("a name server asks us what we ask it; it is left out: name others with --resolv-conf", {
          server: server.address,
        });
      }
      looping.add(key);
    },
    loops: (server) => looping.has(keyOf(server)),
  };
}

const keyOf = ({ address, port }: NameServer) => `${address} ${port}`;

function writeProbe(name: string, id: number): Buffer {
  const labels = name.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(0x0100, 2);
  header.writeUInt16BE(1, 4);
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, RECORD_TYPES.HINFO, 0, 1])]);
}
