import { isRecord } from "../../../src/api/object.ts";
import type { Answer } from "./client.ts";

/** Why a body was refused: one entry of a Status. */
interface Cause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** The causes of a refusal, each once: kube-apiserver tells of an object's metadata twice where its kind checks it, too. */
export function causesOf({ body }: Pick<Answer, "body">): Cause[] {
  const details = isRecord(body) ? body["details"] : undefined;
  const causes = isRecord(details) ? details["causes"] : undefined;
  const byText = new Map<string, Cause>();
  for (const cause of Array.isArray(causes) ? causes : []) {
    if (!isRecord(cause)) continue;
    const { reason = "", field = "", message = "" } = cause;
    const read = { reason: String(reason), field: String(field), message: String(message) };
    byText.set(JSON.stringify(read), read);
  }
  return [...byText.values()];
}
