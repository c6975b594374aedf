import type { RuntimeHealth } from "../../runtime/reading/runtime-health.ts";
import { type Pleg, plegError } from "./pleg.ts";

/** Why pods cannot be worked on, as the runtime and the readings of it tell. */
export interface RuntimeErrors {
  /** Why no pod can be worked on now; undefined when all is well. */
  runtimeError(): string | undefined;
  /**
   * The listener is called whenever `runtimeError` may have come to an end. Returns a function that ends the subscription.
   */
  subscribe(listener: () => void): () => void;
  /** Why the node is not ready: the same, and why pods get no network. */
  errors(): readonly string[];
}

interface RuntimeErrorsDeps {
  readonly health: Pick<RuntimeHealth, "networkError" | "runtimeError" | "subscribe">;
  readonly pleg: Pick<Pleg, "health" | "subscribe">;
}

export function createRuntimeErrors({ health, pleg }: RuntimeErrorsDeps): RuntimeErrors {
  const runtimeError = () => health.runtimeError() ?? plegError(pleg.health());
  return {
    runtimeError,
    subscribe(listener) {
      const ends = [health.subscribe(listener), pleg.subscribe(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
    errors: () => [runtimeError(), health.networkError()].filter((error) => error !== undefined),
  };
}
