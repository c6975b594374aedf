import { LRUCache } from "lru-cache";
import { untilAborted } from "../base/abort.ts";
import type { RuntimeService } from "./port.ts";

/** The stops that this process asks the runtime for. */
export interface OwnStops {
  /**
   * Resolves with true when a stop of that container or sandbox, in progress now or carried out lately, is over: the
   * runtime answers a stop only once its own state shows it. Resolves with false where there is no such stop, or it
   * failed.
   */
  isOver(id: string, signal: AbortSignal): Promise<boolean>;
}

/** The bound on identifiers of stopped containers and sandboxes that are kept for events that come after the answer. */
const MAX_REMEMBERED = 1_000;

type StoppingRuntime = Pick<RuntimeService, "stopContainer" | "stopPodSandbox">;

/** Returns the same runtime with its stops recorded while they last and shortly after. */
export function watchOwnStops<Runtime extends StoppingRuntime>(
  runtime: Runtime,
): { runtime: Runtime; stops: OwnStops } {
  const remembered = new LRUCache<string, Promise<boolean>>({ max: MAX_REMEMBERED });
  const watched = async <Answer>(id: string, answer: Promise<Answer>): Promise<Answer> => {
    const outcome = answer.then(
      () => true,
      () => false,
    );
    remembered.set(id, outcome);
    return await answer;
  };
  return {
    runtime: {
      ...runtime,
      stopContainer: async (request, options) =>
        await watched(request.containerId, runtime.stopContainer(request, options)),
      stopPodSandbox: async (request, options) =>
        await watched(request.podSandboxId, runtime.stopPodSandbox(request, options)),
    },
    stops: {
      async isOver(id, signal) {
        const outcome = remembered.get(id);
        return outcome !== undefined && (await untilAborted(outcome, signal));
      },
    },
  };
}
