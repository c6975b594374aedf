import { expect, it } from "vitest";
import { createReviewPlaces } from "./review-places.ts";

/** Four places, and reviews that last until they have to leave; the result tells for each whether it goes on. */
async function fill(addresses: readonly string[]): Promise<string> {
  const places = createReviewPlaces(4);
  const outcomes = addresses.map(() => "+");
  const controller = new AbortController();
  const reviews = addresses.map(async (remoteAddress, index) => {
    const review = async (signal: AbortSignal) =>
      await new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut off"))));
    await places.run({ remoteAddress, signal: controller.signal }, review).catch((error: unknown) => {
      if (!controller.signal.aborted) outcomes[index] = Object(error).code === "too-many-reviews" ? "-" : "?";
    });
  });
  await new Promise((resolve) => setImmediate(resolve));
  const told = addresses.map((address, index) => `${outcomes[index]}${address}`).join(" ");
  controller.abort();
  await Promise.all(reviews);
  return told;
}

it.each([
  ["a b c d", "+a +b +c +d"],
  ["a a a a a", "+a +a +a +a -a"],
  ["a a a a b", "-a +a +a +a +b"],
  ["a b a a b", "-a +b +a +a +b"],
  ["a a b b a", "+a +a +b +b -a"],
  ["a a a b b b", "-a +a +a +b +b -b"],
  ["a b c d e", "+a +b +c +d -e"],
])("of those who come as %s go on %s", async (addresses, expected) => {
  expect(await fill(addresses.split(" "))).toBe(expected);
});

it("is told by its own failure and its own client", async () => {
  const places = createReviewPlaces(1);
  const controller = new AbortController();
  const asker = { remoteAddress: "a", signal: controller.signal };
  const failing = async () => await Promise.reject(new Error("away"));
  await expect(places.run(asker, failing)).rejects.toThrow("away");
  controller.abort();
  await expect(places.run(asker, failing)).rejects.toThrow("away");
  expect(await places.run({ remoteAddress: "b", signal: new AbortController().signal }, async () => 1)).toBe(1);
});
