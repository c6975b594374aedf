import { describe, expect, it } from "vitest";
import type { Secret } from "../../../api/gen/types.ts";
import { withRegistry } from "./image-name.ts";
import { createKeyring, readPullSecrets } from "./keyring.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const makeSecret = (auths: unknown, name = "pull"): Secret => ({
  metadata: { name, namespace: "ns" },
  type: "kubernetes.io/dockerconfigjson",
  data: { ".dockerconfigjson": base64(JSON.stringify({ auths })) },
});
const entry = (user: string) => ({ auth: base64(`${user}:pw-${user}`) });
/** The users whose credentials are tried, in order. */
const usersFor = (image: string, ...secrets: Secret[]) =>
  createKeyring(readPullSecrets(secrets).sources)
    .credentialsFor(image)
    .map(({ credentials }) => credentials.username);

describe("which credentials an image is pulled with", () => {
  it.each<[key: string, image: string, matches: boolean]>([
    ["registry.example", "registry.example/app:1", true],
    ["https://registry.example", "registry.example/app", true],
    ["http://registry.example/", "registry.example/app", true],
    ["https://registry.example/v1/", "registry.example/app", true],
    ["https://registry.example/v2/", "registry.example/app", true],
    ["registry.example", "registry.example:5000/app", false],
    ["registry.example:5000", "registry.example:5000/app@sha256:0123456789abcdef0123456789abcdef", true],
    ["registry.example", "other.example/app", false],
    ["registry.example", "sub.registry.example/app", false],
    ["registry.example/team", "registry.example/team/app", true],
    ["registry.example/team", "registry.example/other/app", false],
    ["registry.example/v2/team", "registry.example/team/app", true],
    ["*.registry.example", "sub.registry.example/app", true],
    ["*.registry.example", "registry.example/app", false],
    ["*.registry.example", "a.b.registry.example/app", false],
    ["*.*.example", "a.b.example/app", true],
    ["reg*.example:5000", "registry.example:5000/app", true],
    ["reg*.example:*", "registry.example:5000/app", false],
    ["registry.example/*", "registry.example/app", false],
    ["[::1]:5000", "[::1]:5000/app", true],
    ["user@registry.example", "registry.example/app", true],
    ["https://index.docker.io/v1/", "busybox", true],
    ["https://index.docker.io/v1/", "library/busybox:1.36", true],
    ["index.docker.io", "docker.io/me/app", true],
    ["docker.io", "me/app", true],
    ["docker.io/me", "me/app", true],
    ["docker.io/me", "you/app", false],
    ["https://index.docker.io/v1/", "registry.example/app", false],
    ["https://index.docker.io/v1/", "localhost/app", false],
  ])("%s for %s: %s", (key, image, matches) => {
    expect(usersFor(image, makeSecret({ [key]: entry("u") }))).toEqual(matches ? ["u"] : []);
  });

  it("the most specific first, then in the order of the secrets", () => {
    const first = makeSecret({
      "registry.example": entry("host"),
      "registry.example/team/app": entry("app"),
      "*.example": entry("wild"),
    });
    const second = makeSecret({ "registry.example": entry("second"), "registry.example/team": entry("team") });
    const again = makeSecret({ "https://registry.example/v2/": entry("host") });
    expect(usersFor("registry.example/team/app:1", first, second, again)).toEqual([
      "app",
      "team",
      "host",
      "second",
      "host",
      "wild",
    ]);
  });

  it("Docker Hub's own only where nothing else matches", () => {
    const secret = makeSecret({ "https://index.docker.io/v1/": entry("hub"), "docker.io/me": entry("me") });
    expect(usersFor("me/app", secret)).toEqual(["me"]);
    expect(usersFor("you/app", secret)).toEqual(["hub"]);
  });
});

describe("how a secret says them", () => {
  const none = { username: "", password: "", identityToken: "" };
  it.each<{ why: string; entry: object; expected: object }>([
    { why: "auth", entry: { auth: base64("u:p:q") }, expected: { ...none, username: "u", password: "p:q" } },
    {
      why: "auth without padding",
      entry: { auth: base64("u:pw").replace(/=+$/, "") },
      expected: { ...none, username: "u", password: "pw" },
    },
    {
      why: "user and password",
      entry: { username: "u", password: "p" },
      expected: { ...none, username: "u", password: "p" },
    },
    {
      why: "auth before user and password",
      entry: { username: "x", password: "y", auth: base64("u:p") },
      expected: { ...none, username: "u", password: "p" },
    },
    {
      why: "a token, without the placeholder beside it",
      entry: { auth: base64("00000000-0000-0000-0000-000000000000:"), identitytoken: "t" },
      expected: { ...none, identityToken: "t" },
    },
  ])("$why", ({ entry: written, expected }) => {
    const { sources } = readPullSecrets([makeSecret({ "r.example": written })]);
    expect(sources.flatMap(({ entries }) => entries.map(({ credentials }) => credentials))).toEqual([expected]);
  });

  it("in the older form, without the outer object", () => {
    const data = { ".dockercfg": base64(JSON.stringify({ "r.example": entry("old") })) };
    expect(usersFor("r.example/a", { type: "kubernetes.io/dockercfg", data })).toEqual(["old"]);
  });

  it.each<[string, Secret]>([
    ["another type", { type: "Opaque", data: { ".dockerconfigjson": base64("{}") } }],
    ["no data", { type: "kubernetes.io/dockerconfigjson" }],
    ["no registries", { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": base64("{}") } }],
  ])("nothing, with %s", (_why, secret) => {
    const { sources, malformed } = readPullSecrets([secret]);
    expect([createKeyring(sources).credentialsFor("busybox"), malformed]).toEqual([[], []]);
  });

  const CANARY = "canary-hunter2";
  it.each<[string, string]>([
    ["no JSON", `${CANARY} {`],
    ["no object", JSON.stringify(CANARY)],
    ["registries that are no object", JSON.stringify({ auths: [CANARY] })],
    ["an entry that is no object", JSON.stringify({ auths: { "r.example": CANARY } })],
    ["a password that is no text", JSON.stringify({ auths: { "r.example": { password: [CANARY] } } })],
    ["auth that is no base64", JSON.stringify({ auths: { "r.example": { auth: `!${CANARY}` } } })],
    ["auth without a colon", JSON.stringify({ auths: { "r.example": { auth: base64(CANARY) } } })],
    ["a password in the place of a registry", JSON.stringify({ auths: { [`u:${CANARY}@x y`]: "" } })],
  ])("in a way that cannot be read (%s): said without the content, and the others hold", (_why, text) => {
    const bad: Secret = { ...makeSecret({}, "bad"), data: { ".dockerconfigjson": base64(text) } };
    const { sources, malformed } = readPullSecrets([bad, makeSecret({ "r.example": entry("good") })]);
    expect(malformed).toEqual([{ name: "bad", error: expect.any(String) }]);
    expect(JSON.stringify(malformed)).not.toContain("canary");
    expect(createKeyring(sources).credentialsFor("r.example/a")).toMatchObject([{ credentials: { username: "good" } }]);
  });
});

it.each([
  ["busybox", "docker.io/library/busybox"],
  ["me/app:1", "docker.io/me/app"],
  ["docker.io/busybox", "docker.io/library/busybox"],
  ["index.docker.io/me/app", "docker.io/me/app"],
  ["localhost/app", "localhost/app"],
  ["host:5000/app:1", "host:5000/app"],
  [`r.example/app@sha256:${"0".repeat(64)}`, "r.example/app"],
])("%s is %s in full", (image, expected) => {
  expect(withRegistry(image)).toBe(expected);
});
