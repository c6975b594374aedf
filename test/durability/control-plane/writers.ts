import { isRecord } from "../../../src/api/object.ts";
import type { Random } from "../../../src/base/random.ts";
import type { Answer, ApiClient } from "../../contract/api/client.ts";
import { type Ledger, noteAcknowledged, noteRefused, noteSent, type Value } from "./ledger.ts";

export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** By it they are told from the config maps that controllers make. */
export const LABELS = { "durability.test": "true" };

const WRITERS = 4;
const NAMES_OF_WRITER = 8;
const LARGE_BYTES = 500_000;

/** How one run writes. */
interface Writing {
  readonly api: ApiClient;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly run: number;
  /** Objects so large that the log is emptied into the database again and again. */
  readonly isLarge: boolean;
  /** Grows with what was acknowledged. */
  readonly written: { bytes: number };
}

/** Writes until the server is gone. Each writer has names of its own, so that the order of their changes is known. */
export async function writeUntilKilled(writing: Writing): Promise<void> {
  await Promise.all(Array.from({ length: WRITERS }, async (_, writer) => await runWriter(writing, writer)));
}

async function runWriter(writing: Writing, writer: number): Promise<void> {
  const { ledger, random, run } = writing;
  for (let sequence = 0; ; sequence++) {
    const name = `w${writer}-${Math.floor(random.next() * NAMES_OF_WRITER)}`;
    const value = `${run}.${writer}.${sequence}`;
    const isThere = ledger.known.get(name) !== undefined;
    const choice = random.next();
    try {
      if (!isThere) await send(writing, "POST", name, value);
      else if (choice < 0.15) await send(writing, "DELETE", name, undefined);
      else if (choice < 0.25) await sendStale(writing, name, `stale.${value}`);
      else await send(writing, choice < 0.6 ? "PUT" : "PATCH", name, value);
    } catch (error) {
      if (error instanceof WrongAnswer) throw error;
      return;
    }
  }
}

class WrongAnswer extends Error {}

async function send(
  { api, ledger, isLarge, written }: Writing,
  method: string,
  name: string,
  value: Value,
): Promise<void> {
  const path = method === "POST" ? CONFIG_MAPS : `${CONFIG_MAPS}/${name}`;
  const body = value === undefined ? undefined : configMap(name, value, isLarge);
  noteSent(ledger, name, value);
  const answer = method === "PATCH" ? await api.patch("merge", path, body) : await api.json(method, path, body);
  if (answer.status >= 300) throw new WrongAnswer(`${method} ${name}: ${JSON.stringify(answer.body)}`);
  written.bytes += isLarge ? LARGE_BYTES : 0;
  noteAcknowledged(ledger, { name, value, revision: value === undefined ? undefined : revisionOf(answer) });
}

/** A write that the server has to refuse, because it names a version that is not there. */
async function sendStale({ api, ledger, isLarge }: Writing, name: string, value: string): Promise<void> {
  const object = configMap(name, value, isLarge);
  const body = { ...object, metadata: { ...object.metadata, resourceVersion: "1" } };
  // Also when no answer comes, it must not happen.
  ledger.refused.add(value);
  const { status } = await api.json("PUT", `${CONFIG_MAPS}/${name}`, body);
  if (status !== 409) throw new WrongAnswer(`a stale update of ${name} was answered with ${status}`);
  noteRefused(ledger, name, value);
}

export function configMap(name: string, value: string, isLarge = false) {
  const data = { value, ...(isLarge && { padding: "x".repeat(LARGE_BYTES) }) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: LABELS }, data };
}

export function revisionOf({ body }: Pick<Answer, "body">): number {
  const metadata = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};
  return Number(metadata["resourceVersion"]);
}
