import { expect, test } from "vitest";
import { createComponentStatuses } from "./component-statuses.ts";

const everything = { namespace: "", name: undefined };
const { signal } = new AbortController();
const namesOf = async (components: { controllers: boolean; scheduler: boolean }, name?: string) => {
  const statuses = await createComponentStatuses(components).read({ ...everything, name }, signal);
  return statuses.map(({ metadata }) => metadata.name);
};

test("the parts that run here have a status, in order of their names", async () => {
  expect(await namesOf({ controllers: true, scheduler: true })).toEqual(["controller-manager", "etcd-0", "scheduler"]);
  expect(await namesOf({ controllers: false, scheduler: false })).toEqual(["etcd-0"]);
});

test("one is found by its name", async () => {
  expect(await namesOf({ controllers: true, scheduler: true }, "scheduler")).toEqual(["scheduler"]);
  expect(await namesOf({ controllers: true, scheduler: false }, "scheduler")).toEqual([]);
});
