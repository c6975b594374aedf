import { expect, it } from "vitest";
import { createStaticStartOrder } from "./static-start-order.ts";

const NAME = "web_default";

it("lets static pods of one name start in the order of their arrival, one at a time", () => {
  const order = createStaticStartOrder();
  for (const uid of ["a", "b", "c"]) order.arrive(NAME, uid);
  expect(order.mayStart(NAME, "b")).toBe(false);
  expect(order.mayStart(NAME, "a")).toBe(true);
  expect(order.mayStart(NAME, "a")).toBe(true);
  expect(order.mayStart(NAME, "b")).toBe(false);
  expect(order.leave(NAME, "a")).toBe("b");
  expect(order.mayStart(NAME, "c")).toBe(false);
  expect(order.mayStart(NAME, "b")).toBe(true);
});

it("skips who leaves before its turn", () => {
  const order = createStaticStartOrder();
  for (const uid of ["a", "b", "c"]) order.arrive(NAME, uid);
  expect(order.mayStart(NAME, "a")).toBe(true);
  expect(order.leave(NAME, "b")).toBeUndefined();
  expect(order.leave(NAME, "a")).toBe("c");
  expect(order.mayStart(NAME, "c")).toBe(true);
});

it("tells the next in line when the first leaves without having started", () => {
  const order = createStaticStartOrder();
  order.arrive(NAME, "a");
  order.arrive(NAME, "b");
  expect(order.leave(NAME, "a")).toBe("b");
});

it("keeps the place of who arrives twice", () => {
  const order = createStaticStartOrder();
  for (const uid of ["a", "b", "a"]) order.arrive(NAME, uid);
  expect(order.mayStart(NAME, "a")).toBe(true);
  order.arrive(NAME, "a");
  expect(order.leave(NAME, "a")).toBe("b");
});

it("does not hold up another name, nor one that is not in line", () => {
  const order = createStaticStartOrder();
  order.arrive(NAME, "a");
  order.mayStart(NAME, "a");
  order.arrive("db_default", "b");
  expect(order.mayStart("db_default", "b")).toBe(true);
  expect(order.mayStart("cache_default", "c")).toBe(true);
  expect(order.leave("cache_default", "c")).toBeUndefined();
});
