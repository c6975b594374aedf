import { sleep } from "../../../base/abort.ts";
import { computeBackOff } from "../../../base/back-off.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import * as cri from "../../../cri/gen/cri-v1.ts";
import type { Cri } from "../../../cri/port.ts";
import type { RuntimeFacts } from "../../cluster/node-status/node-status.ts";
import { cutText } from "./runtime-answers.ts";

/**
 * Tells whether the runtime and its network are fit to run pods, by what the runtime itself answers each time it is
 * asked.
 */
export interface RuntimeHealth {
  run(signal: AbortSignal): Promise<void>;
  /** Undefined when the runtime is ready, else why it is not. */
  runtimeError(): string | undefined;
  /** Undefined when pods can get a network, else why they cannot. */
  networkError(): string | undefined;
  /** The runtime's name and abilities; the name is empty until the runtime has answered once. */
  runtime(): RuntimeFacts;
  /** The listener is called after each change of the two verdicts. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

interface RuntimeHealthDeps {
  runtime: Cri["runtime"];
  clock: Clock;
  log: Log;
}

const CHECK_PERIOD_MS = 5_000;
/**
 * While something is wrong, the runtime is asked again after this time, then after twice as long each time up to the
 * period.
 */
const RETRY = { initialMs: 100, maxMs: CHECK_PERIOD_MS };
const CHECK_TIMEOUT_MS = 10_000;
/** More handlers of the runtime are left out of the node's status. */
const MAX_HANDLERS = 256;

interface Verdict {
  runtime: string | undefined;
  network: string | undefined;
}

export function createRuntimeHealth(deps: RuntimeHealthDeps): RuntimeHealth {
  const { clock, log } = deps;
  const unasked = "container runtime status check may not have completed yet";
  let verdict: Verdict = { runtime: unasked, network: unasked };
  let facts: RuntimeFacts = { name: "", version: "", handlers: [], features: undefined };
  const listeners = new Set<() => void>();

  const judge = (next: Verdict) => {
    const changed = next.runtime !== verdict.runtime || next.network !== verdict.network;
    verdict = next;
    if (!changed) return;
    if (next.runtime !== undefined) log.error("Container runtime is not ready", { reason: next.runtime });
    else if (next.network !== undefined) log.warn("Container runtime network not ready", { reason: next.network });
    else log.info("Container runtime is ready", { name: facts.name, version: facts.version });
    for (const listener of [...listeners]) listener();
  };

  const check = async (signal: AbortSignal): Promise<void> => {
    const call = { timeoutMs: CHECK_TIMEOUT_MS, signal };
    try {
      const answer = await deps.runtime.status(cri.StatusRequest.fromPartial({}), call);
      const { status, runtimeHandlers: handlers, features } = answer;
      if (facts.name === "" || verdict.runtime !== undefined) {
        const version = await deps.runtime.version(cri.VersionRequest.fromPartial({}), call);
        facts = { ...facts, name: cutText(version.runtimeName), version: cutText(version.runtimeVersion) };
      }
      facts = { ...facts, handlers: handlers.slice(0, MAX_HANDLERS), features };
      judge(readConditions(status?.conditions ?? []));
    } catch (error) {
      signal.throwIfAborted();
      judge({ runtime: `container runtime is down: ${messageOf(error)}`, network: verdict.network });
    }
  };

  return {
    async run(signal) {
      let failures = 0;
      while (!signal.aborted) {
        await check(signal);
        const isWell = verdict.runtime === undefined && verdict.network === undefined;
        failures = isWell ? 0 : failures + 1;
        await sleep(clock, isWell ? CHECK_PERIOD_MS : computeBackOff(failures, RETRY), signal);
      }
    },
    runtimeError: () => verdict.runtime,
    networkError: () => verdict.network,
    runtime: () => facts,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function readConditions(conditions: ReadonlyArray<cri.RuntimeCondition>): Verdict {
  return {
    runtime: describe(conditions, "RuntimeReady", "container runtime not ready"),
    network: describe(conditions, "NetworkReady", "container runtime network not ready"),
  };
}

function describe(conditions: ReadonlyArray<cri.RuntimeCondition>, type: string, what: string): string | undefined {
  const condition = conditions.find((candidate) => candidate.type === type);
  if (condition === undefined) return `${what}: the runtime does not report ${type}`;
  if (condition.status) return undefined;
  return cutText(`${what}: ${type}=false reason:${condition.reason} message:${condition.message}`);
}
