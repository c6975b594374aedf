import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { UnansweredError } from "../ports/unanswered.ts";
import { createConversionAnswers, createConvertedObjects } from "./converted-objects.ts";

const tab = (name: string, text = ""): KubeObject => {
  return { apiVersion: "a.example.com/v1", kind: "Tab", metadata: { name }, text };
};
const V2 = "a.example.com/v2";

/** Conversions by a webhook that notes what it is asked, and fails while `failure` says so. */
function setUp() {
  let nowMs = 0;
  const asked: string[][] = [];
  const webhook: { failure: string | undefined } = { failure: undefined };
  const converted = createConvertedObjects(
    createConversionAnswers({ monotonic: () => nowMs }),
    "a",
    async (objects) => {
      asked.push(objects.map(({ metadata }) => metadata.name ?? ""));
      await Promise.resolve();
      if (webhook.failure !== undefined) throw new Error(webhook.failure);
      return objects.map((object) => ({ ...object, apiVersion: V2 }));
    },
  );
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { converted, asked, webhook, advance };
}

/** What the decision waits for. */
function questionOf(decide: () => unknown): UnansweredError {
  try {
    decide();
  } catch (error) {
    if (error instanceof UnansweredError) return error;
  }
  throw new Error("nothing was asked");
}

it("a decision asks once, and has its answer when it is made again", async () => {
  const { converted, asked } = setUp();
  await questionOf(() => converted.convert(tab("a"), V2)).ask();
  expect(converted.convert(tab("a"), V2)).toEqual({ ...tab("a"), apiVersion: V2 });
  expect(converted.convert(tab("b"), "a.example.com/v1")).toEqual(tab("b"));
  expect(asked).toEqual([["a"]]);
});

it("an answer counts for exactly that object, and for half a minute", async () => {
  const { converted, advance } = setUp();
  await converted.convertAll([tab("a")], V2);
  questionOf(() => converted.convert(tab("a", "changed"), V2));
  advance(29_999);
  expect(converted.convert(tab("a"), V2).apiVersion).toBe(V2);
  advance(1);
  questionOf(() => converted.convert(tab("a"), V2));
});

it("those who ask at one time share a question, and many objects are one", async () => {
  const { converted, asked } = setUp();
  const all = await Promise.all([converted.convertAll([tab("a"), tab("b")], V2), converted.convertAll([tab("b")], V2)]);
  expect(all.map((objects) => objects.map(({ metadata }) => metadata.name))).toEqual([["a", "b"], ["b"]]);
  expect(asked).toEqual([["a", "b"]]);
});

it("a failure is told to those who wait, and forgotten", async () => {
  const { converted, webhook } = setUp();
  webhook.failure = "no way";
  await expect(questionOf(() => converted.convert(tab("a"), V2)).ask()).rejects.toThrow("no way");
  webhook.failure = undefined;
  expect(await converted.convertAll([tab("a")], V2)).toMatchObject([{ apiVersion: V2 }]);
});

it("the oldest answers go when all of them are too much", async () => {
  const { converted } = setUp();
  const large = "x".repeat(12 * 1024 * 1024);
  for (const name of ["a", "b", "c"]) await converted.convertAll([tab(name, large)], V2);
  questionOf(() => converted.convert(tab("a", large), V2));
  expect(converted.convert(tab("c", large), V2).apiVersion).toBe(V2);
});
