import { expect, it } from "vitest";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createWebhookClient } from "./webhook-client.ts";

const answering = (text: string) =>
  createWebhookClient({
    post: async () => ({ status: 200, text }),
    resolveHost: async () => ["127.0.0.1"],
    reader: { get: () => undefined },
    clock: createFakeClock(),
    mayReach: () => true,
    signal: new AbortController().signal,
    random: () => 0,
  });
const call = async (text: string) => await answering(text)({ url: "https://hook.example.com/x" }, {}, 1_000);

it.each([
  ["of two million values", `[${"{},".repeat(2_000_000)}{}]`, "the answer holds more than 250000 values"],
  [
    "that is nested without end",
    `${"[".repeat(200_000)}${"]".repeat(200_000)}`,
    "the answer holds more than 1000 levels",
  ],
])("does not build an answer %s", async (_what, text, message) => {
  await expect(call(text)).rejects.toMatchObject({ code: "webhook-failed", message });
});

it("takes the answer for five hundred objects with hundreds of values each", async () => {
  const object = { spec: Array.from({ length: 400 }, (_, index) => index) };
  const review = { response: { convertedObjects: Array.from({ length: 500 }, () => object) } };
  expect(await call(JSON.stringify(review))).toEqual(review);
});
