import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SECRETS } from "../../api/kube-resource.ts";
import { readList } from "./read-list.ts";

const MAX_ITEMS = 1_000;
const read = async (text: string | Buffer) => await readList(SECRETS, Buffer.from(text), MAX_ITEMS);
const HEAD = '{"kind":"SecretList","metadata":{"resourceVersion":"7"},"items":[';

it("reads what a parser of the whole reads, however it is written", async () => {
  const item = fc.record({
    metadata: fc.record({ name: fc.string({ unit: "binary" }) }),
    data: fc.dictionary(fc.string(), fc.string()),
    more: fc.jsonValue(),
  });
  const list = fc.record({
    items: fc.array(item, { maxLength: 4 }),
    metadata: fc.record({ resourceVersion: fc.stringMatching(/^\d{1,9}$/), continue: fc.string({ maxLength: 99 }) }),
    "ite\nms": fc.jsonValue(),
  });
  await fc.assert(
    fc.asyncProperty(list, fc.constantFrom(0, 2, "\t"), fc.boolean(), async (object, space, isFirst) => {
      const whole = isFirst ? { kind: "SecretList", ...object } : { ...object, kind: "SecretList" };
      const page = await read(JSON.stringify(whole, null, space));
      expect(page).toEqual({
        items: object.items.map((one) => SECRETS.read(JSON.parse(JSON.stringify(one)))),
        resourceVersion: object.metadata.resourceVersion,
        next: object.metadata.continue,
      });
    }),
    { numRuns: 200 },
  );
});

it.each([
  ["null", '"items":null'],
  ["none", '"apiVersion":"v1"'],
  ["none, spread out", '"items" : [ ]\n'],
])("an empty list: %s", async (_name, items) => {
  expect(await read(`{${items},"kind":"SecretList","metadata":{}}\n`)).toEqual({
    items: [],
    resourceVersion: "",
    next: "",
  });
});

describe("refuses", () => {
  it.each<[name: string, text: string | Buffer]>([
    ["nothing", ""],
    ["a text", '"x"'],
    ["a list of another kind", `${HEAD.replace("Secret", "Pod")}]}`],
    ["what breaks off", `${HEAD}{}`],
    ["what goes on behind its end", `${HEAD}]}]`],
    ["an item that is none", `${HEAD}5]}`],
    ["an item of another kind", `${HEAD}{"kind":"Pod"}]}`],
    ["items that are an object", HEAD.replace('"items":[', '"items":{}}')],
    ["no metadata", '{"kind":"SecretList","items":[]}'],
    [
      "a revision of a megabyte",
      `{"kind":"SecretList","metadata":{"resourceVersion":"${"9".repeat(1e6)}"},"items":[]}`,
    ],
    ["a token of 9,000 characters", `{"kind":"SecretList","metadata":{"continue":"${"9".repeat(9e3)}"},"items":[]}`],
    ["a thousand and one items", `${HEAD}${"{},".repeat(1_000)}{}]}`],
    ["an item of 9 MB", `${HEAD}{"x":"${"x".repeat(9e6)}"}]}`],
    ["an item of a million lists", `${HEAD}{"x":[${"[],".repeat(1e6)}[]]}]}`],
    ["an item 20,000 levels deep", `${HEAD}{"x":${"[".repeat(2e4)}${"]".repeat(2e4)}}]}`],
    ["a million fields beside the items", `{${'"x":0,'.repeat(1e6)}"kind":"SecretList","metadata":{},"items":[]}`],
    ["a field of a megabyte beside them", `{"x":"${"x".repeat(1e6)}","kind":"SecretList","metadata":{},"items":[]}`],
    ["the string that never ends", Buffer.concat([Buffer.from(`${HEAD}{"x":"`), Buffer.alloc(3e7, "x")])],
    ["the escape that never ends", Buffer.concat([Buffer.from(`${HEAD}{"x":"`), Buffer.alloc(3e7, "\\")])],
    ["thirty megabytes of spaces", Buffer.concat([Buffer.from("{"), Buffer.alloc(3e7, " ")])],
  ])("%s", async (_name, text) => {
    await expect(read(text)).rejects.toMatchObject({ name: "KubeUnreachableError", code: "unreachable" });
  });
});

it("what two items hold together may be more than one may hold", async () => {
  const item = `{"x":"${"x".repeat(5e6)}"}`;
  expect((await read(`${HEAD}${item},${item},${item}]}`)).items).toHaveLength(3);
});

it("lets others have their turn between items", async () => {
  const item = `{"x":"${"x".repeat(3e5)}"}`;
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await read(`${HEAD}${Array.from({ length: 40 }, () => item).join(",")}]}`);
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(10);
});
