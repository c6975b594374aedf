import { expect, it } from "vitest";
import { decodeLogOptions, type LogOptions } from "./log-options.ts";
import { logTimeOf } from "./log-time.ts";

const NOW = Date.UTC(2026, 0, 2);
const decode = (query: string) => decodeLogOptions(new URLSearchParams(query), NOW);

it("without parameters all is wanted, once", () => {
  expect(decode("")).toEqual({
    kind: "options",
    options: {
      follow: false,
      previous: false,
      timestamps: false,
      tailLines: undefined,
      limitBytes: undefined,
      since: undefined,
      stream: "All",
    },
  });
});

it.each<[string, Partial<LogOptions>]>([
  ["follow=true&previous=1&timestamps=yes", { follow: true, previous: true, timestamps: true }],
  ["follow=false&previous=FALSE&timestamps=0", { follow: false, previous: false, timestamps: false }],
  ["follow=", { follow: true }],
  ["tailLines=0&limitBytes=1", { tailLines: 0, limitBytes: 1 }],
  ["tail=5", { tailLines: 5 }],
  ["tail=5&tailLines=7", { tailLines: 5 }],
  ["tail=all&tailLines=7", { tailLines: undefined }],
  ["sinceSeconds=60", { since: logTimeOf(NOW - 60_000) }],
  ["sinceTime=2026-01-01T00:00:00.25%2B01:00", { since: { seconds: NOW / 1_000 - 90_000, nanoseconds: 250_000_000 } }],
  ["stream=Stderr", { stream: "Stderr" }],
  ["stream=All&tailLines=3", { stream: "All", tailLines: 3 }],
  ["pretty=true&container=x", {}],
])("reads %s", (query, expected) => {
  expect(decode(query)).toMatchObject({ kind: "options", options: expected });
});

it.each(["tailLines=x", "tailLines=", "limitBytes=1.5", "sinceSeconds=9223372036854775808", "sinceTime=yesterday"])(
  "cannot decode %s",
  (query) => expect(decode(query)).toEqual({ kind: "undecodable" }),
);

it.each([
  "tailLines=-1",
  "limitBytes=0",
  "sinceSeconds=0",
  "sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z",
  "stream=stdout",
  "stream=Stdout&tailLines=3",
])("refuses %s", (query) => expect(decode(query)).toEqual({ kind: "invalid" }));
