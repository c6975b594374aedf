import { expect, it } from "vitest";
import type { OpenedFile } from "../../../host/opened-file.ts";
import { createLogOutput } from "./log-output.ts";
import { createLogReader } from "./log-reader.ts";

const MANY_READS = 1_000;

it.each([
  ["its last lines are looked for", 1],
  ["what is no log is skipped", undefined],
])("stops when the client goes while %s", async (_what, tailLines) => {
  const client = new AbortController();
  const options = {
    follow: false,
    tailLines,
    timestamps: false,
    limitBytes: undefined,
    since: undefined,
    stream: "All" as const,
  };
  let reads = 0;
  // Eight tebibytes of zeros, which a sparse file has for nothing.
  const file: OpenedFile = {
    identity: "sparse",
    status: async () => ({ sizeBytes: 2 ** 43, modifiedAt: 0 }),
    async read(_position, maxBytes) {
      if (++reads === 3) client.abort();
      if (reads === MANY_READS) throw new Error("the client has gone");
      return Buffer.alloc(maxBytes);
    },
    close: async () => undefined,
  };
  const to = { output: createLogOutput(options), write: async () => undefined, signal: client.signal };
  const reading = createLogReader(file, to, options).then(async (reader) => await reader.readToEnd());
  await expect(reading).rejects.toMatchObject({ name: "AbortError" });
  expect(reads).toBe(3);
});
