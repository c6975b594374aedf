import { isApiError } from "../../../src/api/api-error.ts";
import { PODS } from "../../../src/api/kube-resource.ts";
import { readAnswerError } from "../../../src/kube/http/answer-error.ts";
import { readWatchEvent } from "../../../src/kube/http/watch-event.ts";
import { createWatchFrameReader } from "../../../src/kube/http/watch-frames.ts";
import type { Target } from "../target.ts";
import { refused } from "./expected.ts";
import { JSON_WORDS, POD_OBJECT } from "./words.ts";

const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const POD = { ...POD_OBJECT, metadata: { ...POD_OBJECT.metadata, resourceVersion: "7", uid: "u" } };
const GONE = { kind: "Status", apiVersion: "v1", status: "Failure", code: 410, reason: "Expired", message: "too old" };

/** What an API server, or whoever stands in its place, sends to the node agent: events of a watch and errors. */
export const watchEventsTarget: Target = {
  name: "watch-events",
  runs: 16_384,
  seeds: [
    event("ADDED", POD) + event("DELETED", POD),
    event("BOOKMARK", { metadata: { resourceVersion: "9" } }),
    event("ERROR", GONE),
  ],
  words: [
    '"type":"MODIFIED"',
    '"object":',
    '"resourceVersion":"',
    '"details":{"causes":[',
    '"retryAfterSeconds":',
    "\n",
    ...JSON_WORDS,
  ],
  setUp: async () => ({
    run(input) {
      const reader = createWatchFrameReader(32 * 1024);
      // The reader gives up at the first event that it cannot read.
      refused(() => {
        for (let at = 0; at < input.length; at += 4_099) {
          reader.push(input.subarray(at, at + 4_099), (frame) => void readWatchEvent(PODS, frame));
        }
      });
      const error = readAnswerError("GET /api/v1/pods", 500, input);
      if (isApiError(error)) JSON.stringify(error.status);
    },
  }),
};
