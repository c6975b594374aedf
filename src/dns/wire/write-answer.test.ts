import { expect, it } from "vitest";
import { questionFor } from "../__fixtures__/messages.ts";
import { readMessageShape } from "./read-message.ts";
import { readQuery } from "./read-query.ts";
import type { DnsRecord } from "./record.ts";
import { writeAnswer } from "./write-answer.ts";

const NAME = "many.default.svc.cluster.local";

it.each([
  ["udp", 64],
  ["tcp", 6_000],
] as const)("encodes few of ten thousand addresses more than fit into an answer over %s", (transport, most) => {
  const encoded = new Set<number>();
  const answers = Array.from({ length: 10_000 }, (_, index): DnsRecord => {
    return {
      name: NAME,
      ttl: 5,
      type: "A",
      get data() {
        encoded.add(index);
        return "192.0.2.1";
      },
    };
  });
  const received = readQuery(questionFor(NAME), transport);
  if (received.kind !== "query") throw new Error("no query");
  const shape = readMessageShape(writeAnswer(received.query, { code: "NOERROR", answers }));
  // It is said to be cut.
  expect((shape?.flags ?? 0) & 0x0200).toBe(0x0200);
  expect(shape?.answers.length).toBeGreaterThan(transport === "udp" ? 25 : 4_000);
  expect(encoded.size).toBeLessThan(most);
});
