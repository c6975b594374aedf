import { isAbort } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import type { Log } from "../../../base/log.ts";
import type { Programs } from "../../../host/programs-port.ts";
import { type ChainRule, NODE_CHAINS, type NodeChains } from "./node-chains.ts";

interface KeepNodeChainsDeps {
  readonly programs: Pick<Programs, "run">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The same period as upstream's. Upstream looks for a chain of its own there, this one for each rule. */
const PERIOD_MS = 60 * SECOND;
/** A program waits this long for others that change rules, as upstream's do. */
const LOCK_SECONDS = 5;
/** Tables with tens of thousands of rules take seconds. */
const TIMEOUT_MS = 60 * SECOND;

/**
 * Makes the chains and rules of `makeIPTablesUtilChains` and puts back what somebody removes, until the signal fires. A
 * family that the machine has no iptables for is left out. What fails is logged once and tried again. The rules stay
 * when the node agent ends, as upstream's do.
 */
export async function keepNodeChains(deps: KeepNodeChainsDeps, signal: AbortSignal): Promise<void> {
  const run = createIptablesRun(deps.programs, signal);
  const present: Family[] = [];
  for (const chains of NODE_CHAINS) {
    if (await isPresent(chains, run)) present.push(createFamily(chains, run, deps.log));
  }
  if (present.length === 0) {
    deps.log.info("No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain");
    return;
  }
  await repeat(deps.clock, { periodMs: PERIOD_MS, signal }, async () => {
    for (const family of present) await family.look();
  });
}

/** Returns false where the program ends with code 1, which means that the chain or rule is not there. */
type RunIptables = (program: NodeChains["program"], args: readonly string[]) => Promise<boolean>;

function createIptablesRun(programs: Pick<Programs, "run">, signal: AbortSignal): RunIptables {
  return async (program, words) => {
    const args = ["-w", String(LOCK_SECONDS), ...words];
    const outcome = await programs.run({ path: program, args, environment: {}, timeoutMs: TIMEOUT_MS }, signal);
    if (outcome.kind === "printed") return true;
    if (outcome.kind === "missing") throw new Error(`${program} is not installed`);
    if (outcome.exitCode === 1) return false;
    throw new Error(`${program} ${words.join(" ")} ${outcome.problem}: ${outcome.stderr}`);
  };
}

async function isPresent({ program }: NodeChains, run: RunIptables): Promise<boolean> {
  try {
    return await run(program, ["-t", "nat", "-S", "POSTROUTING"]);
  } catch (error) {
    if (isAbort(error)) throw error;
    return false;
  }
}

interface Family {
  /** Makes what is missing. Rejects with AbortedError only. */
  look(): Promise<void>;
}

function createFamily({ protocol, program, chains, rules }: NodeChains, run: RunIptables, log: Log): Family {
  let isMade = false;
  let failure = "";

  const make = async (args: readonly string[]): Promise<void> => {
    if (await run(program, args)) return;
    throw new Error(`${program} ${args.join(" ")} failed with exit code 1`);
  };

  /** Returns the names of what was missing. */
  const ensure = async (): Promise<readonly string[]> => {
    const missing: string[] = [];
    for (const { table, chain } of chains) {
      if (await run(program, ["-t", table, "-S", chain])) continue;
      await make(["-t", table, "-N", chain]);
      missing.push(`${table}/${chain}`);
    }
    for (const rule of rules) {
      if (await run(program, ["-t", rule.table, "-C", rule.chain, ...rule.words])) continue;
      await make(additionOf(rule));
      missing.push(`${rule.table}/${rule.chain} ${rule.words.join(" ")}`);
    }
    return missing;
  };

  return {
    async look() {
      try {
        const missing = await ensure();
        if (!isMade) log.info("Initialized iptables rules.", { protocol });
        else if (missing.length > 0) log.warn("Iptables rules were removed and are back", { protocol, missing });
        isMade = true;
        failure = "";
      } catch (error) {
        if (isAbort(error)) throw error;
        const reason = messageOf(error);
        const message = "Failed to initialize iptables rules; some functionality may be missing.";
        if (reason !== failure) log.error(message, { protocol, error: reason });
        failure = reason;
      }
    },
  };
}

function additionOf({ table, chain, place, words }: ChainRule): readonly string[] {
  return ["-t", table, place === "append" ? "-A" : "-I", chain, ...words];
}
