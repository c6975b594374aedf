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
  const health = { runtimeError: () => runtime, networkError: () => network, subscribe: () => () => {} };
  const { errors, runtimeError } = createRuntimeErrors({
    health,
    pleg: { health: () => pleg, subscribe: () => () => {} },
  });
  expect(errors()).toEqual(expected);
  expect(runtimeError()).toEqual(expected.filter((error) => error !== network)[0]);
});

it("tells who listens of every change of either, until the subscription ends", () => {
  const listeners = { health: new Set<() => void>(), pleg: new Set<() => void>() };
  const subscribeTo = (own: Set<() => void>) => (listener: () => void) => {
    own.add(listener);
    return () => own.delete(listener);
  };
  const { subscribe } = createRuntimeErrors({
    health: { runtimeError: () => undefined, networkError: () => undefined, subscribe: subscribeTo(listeners.health) },
    pleg: { health: () => HEALTHY, subscribe: subscribeTo(listeners.pleg) },
  });
  let told = 0;
  const end = subscribe(() => void told++);
  for (const own of [listeners.health, listeners.pleg]) for (const listener of own) listener();
  expect(told).toBe(2);
  end();
  expect(listeners.health.size + listeners.pleg.size).toBe(0);
});
