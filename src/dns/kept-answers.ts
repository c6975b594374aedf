import { LRUCache } from "lru-cache";
import type { DnsTransport } from "../host/dns-port.ts";
import type { ClusterZone } from "./zone/resolve-name.ts";

/** An answer, and what is counted of it. */
interface KeptAnswer {
  /** With the ID of the question that it was made for. */
  readonly message: Buffer;
  readonly type: string;
  readonly zone: string;
}

/** The zone's answers to the questions of the last second, which are asked again and again, by the bytes that ask. */
interface KeptAnswers {
  /** The answer with the ID of this question; undefined where none is kept. */
  recall(question: Buffer, transport: DnsTransport): KeptAnswer | undefined;
  keep(question: Buffer, transport: DnsTransport, answer: KeptAnswer): void;
}

const MAX_BYTES = 4 * 1024 * 1024;
/** What a question and its place take beside the answer. */
const OVERHEAD_BYTES = 512;
const ID_BYTES = 2;

/** They are forgotten with each change of the zone's names, and with its serial, which answers tell. */
export function createKeptAnswers({ names, serial }: Pick<ClusterZone, "names" | "serial">): KeptAnswers {
  const answers = new LRUCache<string, KeptAnswer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ message }) => message.length + OVERHEAD_BYTES,
  });
  let revision = names.revision;
  let madeAt = serial();
  const forgetOld = () => {
    if (names.revision === revision && serial() === madeAt) return;
    answers.clear();
    revision = names.revision;
    madeAt = serial();
  };
  return {
    recall(question, transport) {
      if (question.length < ID_BYTES) return undefined;
      forgetOld();
      const kept = answers.get(keyOf(question, transport));
      if (kept === undefined) return undefined;
      const message = Buffer.from(kept.message);
      question.copy(message, 0, 0, ID_BYTES);
      return { ...kept, message };
    },
    keep(question, transport, answer) {
      forgetOld();
      answers.set(keyOf(question, transport), answer);
    },
  };
}

function keyOf(question: Buffer, transport: DnsTransport): string {
  return `${transport}${question.toString("latin1", ID_BYTES)}`;
}
