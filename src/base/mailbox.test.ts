import { expect, it } from "vitest";
import { createMailbox } from "./mailbox.ts";

const NEVER = new AbortController().signal;

it("gives items in the order in which they came", async () => {
  const mailbox = createMailbox<number>(10);
  for (const item of [1, 2, 3]) mailbox.offer(item);
  expect([await mailbox.take(NEVER), await mailbox.take(NEVER), await mailbox.take(NEVER)]).toEqual([1, 2, 3]);
});

it("waits for one", async () => {
  const mailbox = createMailbox<number>(10);
  const taken = mailbox.take(NEVER);
  mailbox.offer(1);
  expect(await taken).toBe(1);
});

it("refuses what it has no room for, and counts it", async () => {
  const mailbox = createMailbox<number>(2);
  expect([1, 2, 3, 4].map((item) => mailbox.offer(item))).toEqual([true, true, false, false]);
  expect(mailbox).toMatchObject({ size: 2, refused: 2 });
  await mailbox.take(NEVER);
  expect(mailbox.offer(5)).toBe(true);
});

it("lets the reader go when its signal fires, and loses nothing by it", async () => {
  const mailbox = createMailbox<number>(2);
  const controller = new AbortController();
  const taken = mailbox.take(controller.signal);
  controller.abort();
  await expect(taken).rejects.toMatchObject({ name: "AbortError" });
  mailbox.offer(1);
  await expect(mailbox.take(controller.signal)).rejects.toMatchObject({ name: "AbortError" });
  expect(await mailbox.take(NEVER)).toBe(1);
});
