import { ApiError } from "../../api/api-error.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { UnansweredError } from "../ports/unanswered.ts";
import { decideDurably } from "./decide-durably.ts";
import type { RegistryDeps } from "./registry-deps.ts";

/**
 * More attempts than a request's own webhooks make, with some to spare for others that change the object meanwhile: each
 * attempt asks at least one question that no attempt before it has asked.
 */
const MAX_ATTEMPTS = 64;

/**
 * Makes a decision about an object of the kind that admission takes part in, as `decideDurably` does. Where admission, or
 * the conversion of the object, must ask somebody outside first, nothing waits for the answer but this request: the
 * decision is made again when it is there. `decide` may be called several times, and gets the dependencies with which it
 * decides; it writes nothing before it has all answers.
 */
export async function decideAdmitted<T>(
  deps: RegistryDeps,
  kind: Pick<ResourceKind, "storedAs">,
  decide: (deps: RegistryDeps) => Promise<T>,
): Promise<T> {
  const remembering = deps.admission.flatMap((plugin) => {
    const own = plugin.forRequest?.();
    return own === undefined ? [] : [{ plugin, own }];
  });
  const isAsked = remembering.length > 0 || kind.storedAs?.conversion !== undefined;
  if (!isAsked) return await decideDurably(deps.store, async () => decide(deps));
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
  throw new ApiError("Timeout", "the object changed each time before the webhooks had answered");
}
