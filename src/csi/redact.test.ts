import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactSecrets } from "./redact.ts";

const S = "***stripped***";
const TOKENS = "csi.storage.k8s.io/serviceAccount.tokens";
const tokens = (token: string) => ({
  [TOKENS]: JSON.stringify({ "": { token, expirationTimestamp: "2026-01-01T00:00:00Z" } }),
});

describe("redactSecrets", () => {
  it.each<[string, object, string, string]>([
    ["nothing without secrets", {}, "bad password", "bad password"],
    ["a secret, wherever it stands", { secrets: { p: "sesame" } }, "sesame, sesames", `${S}, ${S}s`],
    ["not the name of one", { secrets: { password: "sesame" } }, "no password", "no password"],
    ["nothing for an empty one", { secrets: { p: "" } }, "bad", "bad"],
    ["the longer of two first", { secrets: { a: "abc", b: "abcdef" } }, "abcdef", S],
    ["what a pattern would take for its own", { secrets: { a: "a.c*" } }, "abc a.c*", `abc ${S}`],
    ["one as it is quoted", { secrets: { a: 'one\n"two"' } }, 'got "one\\n\\"two\\""', `got "${S}"`],
    ["no part of what it put in its place", { secrets: { a: "sesame", b: "s" } }, "sesame", S],
    ["a token", { volumeContext: tokens("eyJ") }, "bad eyJ", `bad ${S}`],
    ["a token among the secrets", { secrets: tokens("eyJ") }, "bad eyJ", `bad ${S}`],
    ["all tokens as one", { volumeContext: tokens("eyJ") }, `got ${tokens("eyJ")[TOKENS]}`, `got ${S}`],
    ["tokens that cannot be read", { volumeContext: { [TOKENS]: "{eyJ" } }, "got {eyJ", `got ${S}`],
    ["not the rest of the context", { volumeContext: { share: "a" } }, "no share a", "no share a"],
  ])("strips %s", (_what, request, text, expected) => {
    expect(redactSecrets(text, request)).toBe(expected);
  });

  it("leaves no secret in any text", () => {
    // A secret that is part of the mark itself would be found in it.
    const secret = fc.string({ minLength: 1 }).filter((text) => !S.includes(text));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), secret), fc.array(fc.string()), (secrets, words) => {
        const text = words.flatMap((word, index) => [word, Object.values(secrets)[index] ?? ""]).join("");
        const parts = redactSecrets(text, { secrets }).split(S);
        for (const value of Object.values(secrets)) expect(parts.every((part) => !part.includes(value))).toBe(true);
      }),
    );
  });

  it("takes any request", () => {
    fc.assert(fc.property(fc.string(), fc.anything(), (text, request) => void redactSecrets(text, request)));
  });
});
