import { expect, it } from "vitest";
import { computeTrustAnchors } from "./trust-anchors.ts";

const base64 = (content: string) => Buffer.from(content).toString("base64");
const block = (content: string, type = "CERTIFICATE") => `-----BEGIN ${type}-----\n${content}\n-----END ${type}-----\n`;
const A = block(base64("a"));
const B = block(base64("b"));

it.each<[string, string[], string]>([
  ["nothing", [], ""],
  ["a bundle that holds none", ["no certificate here\n"], ""],
  ["a bundle", [A], A],
  ["several, sorted", [B, A], A + B],
  ["several in one", [B + A], A + B],
  ["each once, however it is written", [A, block(`${base64("a")}\n`).replaceAll("\n", "\r\n"), A + A], A],
  ["without words between them", [`Root of ours\n${A}\nAnother\n${B}`], A + B],
  ["without headers", [block(`Subject: ours\nIssuer: ours\n\n${base64("a")}`)], A],
  ["an empty one is none", [block(""), A], A],
  ["one that is cut off is none", [A.slice(0, -10), B], B],
  ["always as certificates", [block(base64("a"), "TRUSTED CERTIFICATE")], A],
])("%s", (_case, bundles, expected) => {
  expect(computeTrustAnchors(bundles)).toBe(expected);
});

it("breaks lines as PEM has it", () => {
  const long = "x".repeat(100);
  const [, first, second, third] = computeTrustAnchors([block(base64(long))]).split("\n");
  expect([first?.length, `${first}${second}`, third]).toEqual([
    64,
    base64(long).slice(0, 128),
    base64(long).slice(128),
  ]);
});
