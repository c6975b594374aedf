import { expect } from "vitest";
import { ApiError, expiredError } from "../../api/api-error.ts";
import type { Pod } from "../../api/gen/types.ts";
import { PODS } from "../../api/kube-resource.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createReflector } from "../create-reflector.ts";
import { KubeUnreachableError } from "../port.ts";
import type { ReflectorChange } from "../reflector.ts";
import { createScriptedClient } from "./scripted-client.ts";

export const pod = (name: string, resourceVersion: string, uid = name): Pod => ({
  metadata: { namespace: "default", name, uid, resourceVersion },
});
export const unreachable = () => new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
export const expired = () => expiredError("too old resource version");
export const tooLarge = () =>
  new ApiError("Timeout", "Timeout: Too large resource version: 9, current: 1", {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
  });

export type ReflectorRig = ReturnType<typeof createReflectorRig>;

/** A reflector of the pods of one node, a server that answers when the test says so, and what the reflector tells. */
export function createReflectorRig(server = createScriptedClient()) {
  const clock = createFakeClock();
  const noChanges: string[] = [];
  const logged: string[] = [];
  const failures: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => void logged.push(`warn: ${message}: ${String(fields?.["error"])}`),
    info: (message) => void logged.push(`info: ${message}`),
  };
  const last = <Call>(calls: readonly Call[]): Call => {
    const call = calls.at(-1);
    if (call === undefined) throw new Error("the server was not asked");
    return call;
  };
  const rig = {
    ...{ clock, server, logged, failures },
    controller: new AbortController(),
    /** A line for each batch. */
    changes: noChanges,
    running: Promise.resolve(),
    onChange: (batch: ReadonlyArray<ReflectorChange<Pod>>): void => {
      rig.changes.push(batch.map(({ type, object }) => `${type} ${object.metadata?.uid}`).join(", "));
    },
    reflector: createReflector<Pod>(
      // Half of the jitter: delays are 1.5 times their base.
      { client: server.client, clock, random: { next: () => 0.5 }, log },
      {
        resource: PODS,
        fieldSelector: "spec.nodeName=n",
        onChange: (batch) => rig.onChange(batch),
        onFailure: (error) => void failures.push(error),
      },
    ),
    async start() {
      rig.running = rig.reflector.run(rig.controller.signal);
      await clock.settle();
    },
    lastList: () => last(server.lists),
    lastWatch: () => last(server.watches),
    async listed(...items: Pod[]) {
      last(server.lists).answer(items, "10");
      await clock.settle();
    },
    held: () => rig.reflector.list().map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`),
    /** Milliseconds until the reflector lists again. */
    async delayOfNextList() {
      const before = server.lists.length;
      let waited = 0;
      await clock.settle();
      while (server.lists.length === before) {
        const step = clock.untilNextTimer() ?? Number.NaN;
        waited += step;
        await clock.advance(step);
      }
      return waited;
    },
    /** Stops the reflector, which leaves no timer. */
    async end() {
      rig.controller.abort();
      await rig.running;
      expect(clock.pendingTimers).toBe(0);
    },
  };
  return rig;
}
