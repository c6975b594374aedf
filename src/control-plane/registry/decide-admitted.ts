import { ApiError } from "../../api/api-error.ts";
import { UnansweredError } from "../ports/unanswered.ts";
import { decideDurably } from "./decide-durably.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/**
 * More attempts than a request's own webhooks make, with some to spare for others that change the object meanwhile: each
 * attempt asks at least one question that no attempt before it has asked.
 */
const MAX_ATTEMPTS = 64;

/**
 * Makes a decision that admission takes part in, as `decideDurably` does. Where admission must ask somebody outside first,
 * nothing waits for the answer but this request: the decision is made again when it is there. `decide` may be called
 * several times, and gets the dependencies with which it decides.
 */
export async function decideAdmitted<T>(deps: RegistryDeps, decide: (deps: RegistryDeps) => Promise<T>): Promise<T> {
  const remembering = deps.admission.flatMap((plugin) => {
    const own = plugin.forRequest?.();
    return own === undefined ? [] : [{ plugin, own }];
  });
  if (remembering.length === 0) return await decideDurably(deps.store, async () => decide(deps));
  const admission = deps.admission.map((plugin) => remembering.find((one) => one.plugin === plugin)?.own ?? plugin);
  const tape = deps.record();
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      return await decideDurably(deps.store, async () => tape.play(async () => decide({ ...deps, admission })));
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      await error.ask();
    }
  }
  throw new ApiError("Timeout", "the object changed each time before the admission webhooks had answered");
}
