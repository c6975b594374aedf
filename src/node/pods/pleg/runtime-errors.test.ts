import { expect, it } from "vitest";
import type { Pleg } from "./pleg.ts";
import { createRuntimeErrors } from "./runtime-errors.ts";

type PlegHealth = ReturnType<Pleg["health"]>;

const HEALTHY: PlegHealth = { state: "healthy" };

it.each<[string | undefined, PlegHealth, string | undefined, string[]]>([
  [undefined, HEALTHY, undefined, []],
  ["no runtime", { state: "starting" }, undefined, ["no runtime"]],
  [undefined, { state: "starting" }, "no network", [expect.stringMatching(/^PLEG is not healthy/), "no network"]],
  ["no runtime", HEALTHY, "no network", ["no runtime", "no network"]],
])("names the runtime's error, else PLEG's, and the network's: %s, %j, %s", (runtime, pleg, network, expected) => {
  const health = { runtimeError: () => runtime, networkError: () => network };
  const { errors, runtimeError } = createRuntimeErrors({ health, pleg: { health: () => pleg } });
  expect(errors()).toEqual(expected);
  expect(runtimeError()).toEqual(expected.filter((error) => error !== network)[0]);
});
