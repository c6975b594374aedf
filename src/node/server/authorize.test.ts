import { expect, it } from "vitest";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createFakeReviews } from "./__fixtures__/fake-reviews.ts";
import { createAccessReviews } from "./authorize.ts";

const asker = { remoteAddress: "192.0.2.1", signal: new AbortController().signal };
const action = { user: { name: "bob", groups: ["ops"], extra: { a: ["b"] } }, verb: "get", subresource: "pods" };

function createRig() {
  const clock = createFakeClock();
  const reviews = createFakeReviews();
  const options = { nodeName: "node-1", allowedTtlMs: 300_000, refusedTtlMs: 30_000 };
  const authorize = createAccessReviews({ client: reviews.client, clock }, options);
  const ask = async (status: object | Error) => {
    const before = reviews.asked.length;
    const outcome = authorize(action, asker);
    outcome.catch(() => undefined);
    await clock.settle();
    if (reviews.asked.length > before) reviews.answer(status);
    return { allowed: await outcome, isAsked: reviews.asked.length > before };
  };
  return { clock, ...reviews, authorize, ask };
}

it("asks what may be done with the node", async () => {
  const { ask, asked } = createRig();
  expect(await ask({ allowed: true })).toEqual({ allowed: true, isAsked: true });
  expect(asked[0]?.spec).toEqual({
    resourceAttributes: { verb: "get", version: "v1", resource: "nodes", subresource: "pods", name: "node-1" },
    user: "bob",
    groups: ["ops"],
    extra: { a: ["b"] },
  });
});

it.each([
  [true, 300_000],
  [false, 30_000],
])("keeps the answer %s for %i ms", async (allowed, ttlMs) => {
  const { ask, clock } = createRig();
  await ask({ allowed });
  await clock.advance(ttlMs - 1);
  expect(await ask({ allowed: !allowed })).toEqual({ allowed, isAsked: false });
  await clock.advance(1);
  expect(await ask({ allowed: !allowed })).toEqual({ allowed: !allowed, isAsked: true });
});

it("refuses what is denied, and what nobody has an opinion on", async () => {
  expect(await createRig().ask({ allowed: false, denied: true })).toMatchObject({ allowed: false });
  expect(await createRig().ask({ allowed: false, evaluationError: "x" })).toMatchObject({ allowed: false });
});

it("takes no contradiction for an answer, and keeps no failure", async () => {
  const { ask } = createRig();
  await expect(ask({ allowed: true, denied: true })).rejects.toThrow("both allow and deny");
  await expect(ask(new Error("away"))).rejects.toThrow("away");
  expect(await ask({ allowed: true })).toEqual({ allowed: true, isAsked: true });
});

it("keeps nothing that is longer than all that is written by hand", async () => {
  const { authorize, clock, asked, answer } = createRig();
  const user = { ...action.user, groups: ["g".repeat(10_001)] };
  for (let turn = 1; turn <= 2; turn++) {
    const outcome = authorize({ ...action, user }, asker);
    await clock.settle();
    answer({ allowed: true });
    expect(await outcome).toBe(true);
    expect(asked).toHaveLength(turn);
  }
});
