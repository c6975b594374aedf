import { expect, it } from "vitest";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { ServedPeer } from "../../host/http-server.ts";
import { createFakeReviews } from "./__fixtures__/fake-reviews.ts";
import { createNodeAuthenticator, createTokenReviews, type ReviewToken } from "./authenticate.ts";

const NOW = Date.UTC(2026, 0, 1);
const asker = { remoteAddress: "192.0.2.1", signal: new AbortController().signal };
const alice: ServedPeer = {
  kind: "verified",
  commonName: "alice",
  organizations: ["dev"],
  fingerprint: "0a",
  notAfter: NOW + 1,
};
const reviewToken: ReviewToken = async (token) => {
  if (token === "away") throw new Error("connect ECONNREFUSED");
  return token === "good" ? { name: "bob", groups: ["ops"], extra: {} } : undefined;
};

const aliceUser = {
  name: "alice",
  groups: ["dev", "system:authenticated"],
  extra: { "authentication.kubernetes.io/credential-id": ["X509SHA256=0a"] },
};
const bobUser = { name: "bob", groups: ["ops", "system:authenticated"], extra: {} };
const anonymousUser = { name: "system:anonymous", groups: ["system:unauthenticated"], extra: {} };

it.each<[string, { peer?: ServedPeer; authorization?: string; anonymous?: boolean }, object]>([
  ["a client certificate", { peer: alice }, aliceUser],
  ["a certificate before a token", { peer: alice, authorization: "Bearer good" }, aliceUser],
  ["a token", { authorization: "Bearer good" }, bobUser],
  ["a token of another case", { authorization: "  bearer good  " }, bobUser],
  [
    "a token where the certificate is not believed",
    { peer: { kind: "unverified", reason: "x" }, authorization: "Bearer good" },
    bobUser,
  ],
  [
    "a token where the certificate is nobody's",
    { peer: { ...alice, commonName: "" }, authorization: "Bearer good" },
    bobUser,
  ],
  ["nothing", { anonymous: true }, anonymousUser],
  ["an empty token", { authorization: "Bearer ", anonymous: true }, anonymousUser],
  ["another scheme", { authorization: "Basic Z29vZDo=", anonymous: true }, anonymousUser],
])("takes %s", async (_, { peer, authorization, anonymous = false }, user) => {
  const authenticate = createNodeAuthenticator({ clock: { now: () => NOW }, reviewToken }, { anonymous });
  expect(await authenticate({ ...asker, peer, authorization })).toEqual({ kind: "user", user });
});

it.each<[string, { peer?: ServedPeer; authorization?: string; anonymous?: boolean }, string | undefined]>([
  ["nothing", {}, undefined],
  ["a bad token, anonymous or not", { authorization: "Bearer bad", anonymous: true }, "invalid bearer token"],
  ["a token that cannot be looked at", { authorization: "Bearer away", anonymous: true }, "connect ECONNREFUSED"],
  [
    "a certificate of others, anonymous or not",
    { peer: { kind: "unverified", reason: "SELF_SIGNED" }, anonymous: true },
    "client certificate: SELF_SIGNED",
  ],
  ["a certificate that ended meanwhile", { peer: { ...alice, notAfter: NOW } }, "client certificate has expired"],
  ["a certificate of nobody", { peer: { ...alice, commonName: "" } }, undefined],
])("refuses %s", async (_, { peer, authorization, anonymous = false }, reason) => {
  const authenticate = createNodeAuthenticator({ clock: { now: () => NOW }, reviewToken }, { anonymous });
  expect(await authenticate({ ...asker, peer, authorization })).toEqual({ kind: "refused", reason });
});

it("looks at no token where there is nobody to ask", async () => {
  const authenticate = createNodeAuthenticator(
    { clock: { now: () => NOW }, reviewToken: undefined },
    { anonymous: true },
  );
  const answer = await authenticate({ ...asker, peer: undefined, authorization: "Bearer good" });
  expect(answer).toEqual({ kind: "user", user: anonymousUser });
});

function createRig() {
  const clock = createFakeClock();
  const reviews = createFakeReviews();
  return { clock, ...reviews, review: createTokenReviews({ client: reviews.client, clock }, { cacheTtlMs: 120_000 }) };
}

it("asks once for all who wait, and keeps the answer for its time", async () => {
  const { clock, review, asked, answer } = createRig();
  const both = Promise.all([review("t", asker), review("t", asker)]);
  await clock.settle();
  expect(asked.map(({ spec }) => spec)).toEqual([{ token: "t" }]);
  answer({ authenticated: true, user: { username: "bob", uid: "1", groups: ["ops"], extra: { a: ["b"] } } });
  const bob = { name: "bob", uid: "1", groups: ["ops"], extra: { a: ["b"] } };
  expect(await both).toEqual([bob, bob]);
  await clock.advance(119_999);
  expect(await review("t", asker)).toEqual(bob);
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  const again = review("t", asker);
  await clock.settle();
  answer({ authenticated: false });
  expect(await again).toBeUndefined();
  expect(await review("t", asker)).toBeUndefined();
  expect(asked).toHaveLength(2);
});

it("keeps no error, neither the server's nor one of the way there", async () => {
  const { clock, review, asked, answer } = createRig();
  for (const status of [{ error: "[invalid bearer token]" }, new Error("[invalid bearer token]")]) {
    const refused = expect(review("t", asker)).rejects.toThrow("[invalid bearer token]");
    await clock.settle();
    answer(status);
    await refused;
  }
  expect(asked).toHaveLength(2);
});

it("does not keep users whose groups or extras take more than a token does", async () => {
  const { clock, review, asked, answer } = createRig();
  const long = Array.from({ length: 2_000 }, (_, index) => `group-of-a-thousand-${index}`);
  for (const user of [{ groups: long }, { extra: { [long.join()]: ["a"] } }, { extra: { a: long } }]) {
    const known = review("t", asker);
    await clock.settle();
    answer({ authenticated: true, user: { username: "bob", ...user } });
    expect(await known).toMatchObject({ name: "bob", ...user });
  }
  expect(asked).toHaveLength(3);
});

it.each<[string, object, string]>([
  ["a name that is none", { username: 5 }, "status.user.username must be a string"],
  ["groups that are none", { username: "bob", groups: "system:masters" }, "status.user.groups must be a list"],
  ["extras that are none", { username: "bob", extra: { a: "b" } }, "status.user.extra[a] must be a list"],
])("does not believe %s", async (_what, user, problem) => {
  const { clock, review, answer } = createRig();
  const refused = expect(review("t", asker)).rejects.toThrow(problem);
  await clock.settle();
  answer({ authenticated: true, user });
  await refused;
});

it("does not wait for ever, and lets the request go", async () => {
  const { clock, review, asked } = createRig();
  const refused = expect(review("t", asker)).rejects.toMatchObject({ code: "timed-out" });
  await clock.advance(10_000);
  await refused;
  expect(asked[0]?.signal?.aborted).toBe(true);
  expect(clock.pendingTimers).toBe(0);
});

it("has strangers who fill it make room for others", async () => {
  const { clock, review, asked, answer } = createRig();
  const strangers = Promise.allSettled(
    Array.from(
      { length: 64 },
      async (_, index) =>
        await review(`bad-${index}`, { remoteAddress: "192.0.2.66", signal: new AbortController().signal }),
    ),
  );
  await clock.settle();
  const known = review("good", asker);
  await clock.settle();
  expect(asked).toHaveLength(65);
  expect(asked.filter(({ signal: ended }) => ended?.aborted === true)).toEqual([asked[0]]);
  answer({ authenticated: true, user: { username: "bob" } });
  expect(await known).toMatchObject({ name: "bob" });
  answer({ authenticated: false });
  await clock.advance(10_000);
  await strangers;
});

it("has a bound on what is under way, and takes more when there is room", async () => {
  const { clock, review, asked, answer } = createRig();
  const leaving = Array.from({ length: 64 }, () => new AbortController());
  const waiting = leaving.map(async (client, index) => await review(`t${index}`, { ...asker, signal: client.signal }));
  const left = Promise.allSettled(waiting);
  await clock.settle();
  await expect(review("one more", asker)).rejects.toMatchObject({ code: "too-many-reviews" });
  for (const client of leaving) client.abort();
  await left;
  await clock.settle();
  const next = review("one more", asker);
  await clock.settle();
  expect(asked).toHaveLength(65);
  answer({ authenticated: false });
  expect(await next).toBeUndefined();
});
